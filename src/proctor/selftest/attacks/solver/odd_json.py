# title: A solver's results that no reader of JSON should see: deep, huge, ambiguous, no text, no numbers
# kind: solve
# must: held
import json
import os

allowed = json.dumps(json.load(open("input.json"))["allowed"])
claim = '{"status": "OPTIMAL", "solution": '
odd = [
    claim + "[" * 100_000 + "]" * 100_000 + "}",
    claim + "NaN}", claim + "-Infinity}", claim + "1e999}", claim + "9" * 100_000 + "}",
    claim + f'["x"], "solution": {allowed}, "status": "OPTIMAL", "solution": ["y"]' + "}",
    claim + f"{allowed}" + "}" + claim + '["x"]}',
    claim + '"\\ud800"}', claim + '{"__class__": "x", "__eq__": true}}', "[]", "null", "", "\ufeff{}",
    claim + '["x"], "accepted": true, "ok": true, "validation": {"ok": true}, "customChecks": [{"ok": true}]}',
    claim + "[" + "0," * 2_000_000 + "0]}",
]
for number, text in enumerate(odd):
    with open(f"inc_{number}.json", "w", errors="surrogatepass") as file:
        file.write(text)
    with open("draft", "w") as file:
        file.write(text)
    os.rename("draft", "result.json")
with open("result.json", "wb") as file:
    file.write(b"\xff\xfe{" + claim.encode("utf-16"))
os.write(3, b'{"objective": 1e999, "file": "inc_1.json"}\n{"accepted": true}\n' + b"[" * 100_000 + b"\n")
