# title: An agent whose messages to the MCP server are odd: whatever has an id is answered
# kind: host
# must: held
# harmless: yes
import json
import subprocess
import sys
import threading

INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}  # fmt: skip
CALL = '{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "run_code", "arguments": {"code": %s}}}'
CODES = [
    r'"\ud800"', '"\x00"', "null", "NaN", "1e999", "9" * 5000, "[" * 500 + "]" * 500, '"' + "x" * 100_000 + '"',
    '"a", "code": "b"', '"a", "limit": "b"', '{"code": "a"}', '"\\u0000"',
]  # fmt: skip
server = subprocess.Popen(
    [sys.executable, "-m", "proctor", "mcp"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
)  # fmt: skip
answered = set()


def read():
    for line in server.stdout:
        answered.add(json.loads(line).get("id"))


reading = threading.Thread(target=read)
reading.start()
server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
server.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
for number, code in enumerate(CODES, 1):
    server.stdin.write((CALL % (number, code)).encode("utf-8", "surrogatepass") + b"\n")
for junk in (b"", b"[]", b"[[]]", b"null", b"\xff\xfe", b'{"id": 1', b"[" * 100_000, b'"x"'):
    server.stdin.write(junk + b"\n")
last = len(CODES) + 1
server.stdin.write((CALL % (last, '"print(1)"')).encode() + b"\n")
server.stdin.close()
server.wait()
reading.join()
missing = [number for number in range(last + 1) if number not in answered]
if missing:
    found.append("no answer to " + ", ".join(CODES[n - 1][:20] if 0 < n < last else str(n) for n in missing))
finish()
