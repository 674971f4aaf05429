# title: A run's directory that names what should be executed, imported and sent the key
# kind: host
# must: held
# harmless: yes
import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading

(HERE / "b.toml").write_text(
    'name = "b"\n[rows]\nfile = "rows.jsonl"\nid = "id"\nstatement = "q"\n[prompt]\nuser = "{{ q }}"\n'
    '[grading]\nkind = "stdio"\ntests = "tests"\n'
)
(HERE / "rows.jsonl").write_text('{"id": "a", "q": "x", "tests": [{"input": "1", "output": "2"}]}\n')
(HERE / "replies.jsonl").write_text('{"question_id": "a", "generation": "```python\\nprint(2)\\n```"}\n')
(HERE / "evil.py").write_text(f'open({str(HERE / "imported")!r}, "w")\nclass Agent: pass\nEvil = Agent\n')
(HERE / "python").write_text(f'#!/bin/sh\necho > {HERE / "executed"}\nexec python3 "$@"\n')
(HERE / "python").chmod(0o755)
asked = []


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked.append(str(self.headers))
        self.send_error(500)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()


def proctor(*arguments, home=HERE):
    environment = os.environ | {"OPENAI_API_KEY": "sk-proctor-selftest", "PYTHONPATH": f"{HERE}:{os.environ.get('PYTHONPATH', '')}"}
    environment["XDG_STATE_HOME"] = str(home / "state")
    return subprocess.run(
        [sys.executable, "-m", "proctor", *arguments], cwd=HERE, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, check=False,
    )  # fmt: skip


made = proctor("eval", "./b.toml", "--model", "replay:replies.jsonl", "--out", "r0", home=HERE / "author")
if made.returncode:
    found.append(f"no run was made: {made.stderr.decode()[-200:]}")
URL = f"http://127.0.0.1:{server.server_port}/v1"
CHANGES = {
    "python": ({"python": str(HERE / "python")}, False),
    "agent": ({"agent": "evil:Agent", "agentic_mode": True}, True),
    "preload": ({"preload": ["evil"]}, False),
    "base_url": ({"base_url": URL, "model": "gpt-x"}, True),
    "packages": ({"packages": [str(HERE)]}, False),
    "benchmark": ({}, False),
}
for name, (change, undone) in CHANGES.items():
    run = f"run-{name}"
    shutil.copytree(HERE / "r0", HERE / run)
    database = sqlite3.connect(HERE / run / "run.db")
    (stored,) = database.execute("select value from meta where name = 'settings'").fetchone()
    database.execute("update meta set value = ? where name = 'settings'", (json.dumps(json.loads(stored) | change),))
    if undone:
        database.execute("delete from judged")
        database.execute("delete from generation")
    database.commit()
    database.close()
    for command in (("resume", run), ("retry", run), ("rejudge", run), ("replay", f"{run}#a:0")):
        ended = proctor(*command)
        said = ended.stderr.decode("utf-8", "replace")
        if "Traceback" in said:
            found.append(f"{command[0]} with another {name}: {said[-200:]}")
for effect in ("executed", "imported"):
    if (HERE / effect).exists():
        found.append(f"what the run names was {effect}")
if asked:
    found.append("the server that the run names was asked" + (", with the key" if "sk-proctor" in "".join(asked) else ""))
finish()
