# title: A client whose lines to the daemon are odd: whatever has an id is answered, and others are served
# kind: host
# must: held
# harmless: yes
import json
import subprocess
import sys

GOOD = '{"id": "%s", "method": "ping"}'
LINES = {
    "deep": '{"id": "deep", "method": "run", "params": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "surrogate": r'{"id": "surrogate", "method": "run", "params": {"program": {"source": "\ud800"}}}',
    "digits": '{"id": "digits", "method": "run", "params": ' + "9" * 10_000 + "}",
    "NaN": '{"id": "NaN", "method": "run", "params": {"program": NaN}}',
    "cut": '{"id": "cut", "method": "run", "params": {',
    "no method": '{"id": "no method"}',
    "odd method": '{"id": "odd method", "method": ["run"], "params": {}}',
}
daemon = subprocess.Popen(
    [sys.executable, "-m", "proctor", "daemon", "--no-hello"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
)  # fmt: skip
junk = ["", "[]", "null", "x" * 100_000, '{"id": null}', '{"id": {}}', "[" * 100_000]
lines = [*junk, *LINES.values(), GOOD % "good"]
output, _ = daemon.communicate("\n".join((*lines, "")).encode("utf-8", "surrogatepass"))
answered = set()
for line in output.splitlines():
    said = json.loads(line)
    if isinstance(said.get("id"), str):
        answered.add(said["id"])
if missing := {*LINES, "good"} - answered:
    found.append(f"no answer to {', '.join(sorted(missing))}")
finish()
