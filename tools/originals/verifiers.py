"""Runs verifiers' own `vf-eval`, unmodified, on tasks rewarded by `code_reward`; prints a table.

    python tools/originals/verifiers.py

This Python has proctor, `verifiers>=0.4,<0.5` and `uv`, which verifiers starts its agent's program
with. The model is a server of this script's own that says what each task's prompt wants to hear.
Exits with 1 if a reward is another than it should be: 1, 0, 0.5, and none for a task at fault.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "proctor_coding"
TASKSET = """
import verifiers.v1 as vf
from proctor.integrations.verifiers import code_reward


class Data(vf.TaskData):
    test_cases: list[dict] = []


class Coding(vf.Task[Data]):
    @vf.reward
    async def passed(self, task, trace) -> float:
        return await code_reward(task, trace, scoring="fraction")


class Tasks(vf.Taskset[Coding, vf.TasksetConfig]):
    def load(self):
        cases = [{"input": "2", "output": "4"}, {"input": "3", "output": "6"}]
        rows = [("right", cases), ("wrong", cases), ("half", cases), ("at fault", [])]
        return [
            Coding(Data(idx=number, prompt=prompt, test_cases=tests), self.config.task)
            for number, (prompt, tests) in enumerate(rows)
        ]


__all__ = ["Tasks"]
"""
PROGRAMS = {"wrong": "print('no')", "half": "print(int(input()) ** 2)"}
RIGHT = "print(2 * int(input()))"
WANTED = {"right": 1.0, "wrong": 0.0, "half": 0.5, "at fault": None}


class FixedModel(BaseHTTPRequestHandler):
    """An endpoint of OpenAI's protocol that answers in a stream, with one part."""

    def do_POST(self) -> None:
        """Answer a chat."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        program = PROGRAMS.get(asked["messages"][-1]["content"], RIGHT)
        said = {"role": "assistant", "content": f"```python\n{program}\n```"}
        part = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "fixed"}
        parts = [
            {**part, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for text in (*map(json.dumps, parts), "[DONE]"):
            self.wfile.write(f"data: {text}\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> int:
    """Run the tasks, print a line for each; return the exit status."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), FixedModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{NAME}.py").write_text(TASKSET)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = [
            "vf-eval", NAME, "--model", "fixed", "--push", "False", "--output-dir", folder,
            "--client.base-url", f"http://127.0.0.1:{server.server_port}/v1",
            "--client.api-key-var", "FIXED_KEY", "--env.agent.harness.id", "null",
            "--env.agent.runtime.type", "subprocess",
        ]  # fmt: skip
        environment = {**os.environ, "PATH": path, "PYTHONPATH": folder, "FIXED_KEY": "none"}
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
        written = [each.read_text() for each in Path(folder).glob("*/traces.jsonl")]
    server.shutdown()
    rewards: dict[str, Any] = {}
    for line in "".join(written).splitlines():
        (trace,) = json.loads(line)["traces"]
        kept = trace["rewards"].get("passed")
        reward = kept if kept is None else kept["score"]
        prompt = trace["task"]["data"]["prompt"]
        rewards[prompt] = reward
        why = "; ".join(each["message"] for each in trace["errors"])
        print(f"{prompt:10} {reward!s:6} {why[:100]}".rstrip())
    if rewards != WANTED:
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n", file=sys.stderr)
    return int(rewards != WANTED)


if __name__ == "__main__":
    sys.exit(main())
