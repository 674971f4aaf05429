"""The real verifiers: its tasks score, validate and read through a runtime of ours."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

# CI runs this in an environment of its own, where verifiers is.
vf = pytest.importorskip("verifiers.v1", reason="no case: verifiers is not installed here")

import openai  # noqa: E402
from verifiers.v1.configs.client import EvalClientConfig  # noqa: E402
from verifiers.v1.errors import SandboxError  # noqa: E402
from verifiers.v1.graph import MessageNode  # noqa: E402
from verifiers.v1.harnesses import NullHarness, NullHarnessConfig  # noqa: E402
from verifiers.v1.trace import AgentInfo  # noqa: E402

from proctor.errors import SessionEnded  # noqa: E402
from proctor.integrations.verifiers import (  # noqa: E402
    ProctorConfig,
    ProctorRuntime,
    code_reward,
)

CASES = [{"input": "2", "output": "4"}, {"input": "3", "output": "6"}]


class Data(vf.TaskData):  # type: ignore[misc]
    test_cases: Any = None


class Doubling(vf.Task[Data]):  # type: ignore[misc]
    @vf.reward
    async def passed(self, task: Data, trace: Any) -> float:
        return await code_reward(task, trace)

    @vf.reward(weight=0.5)
    async def share(self, task: Data, trace: Any) -> float:
        return await code_reward(task, trace, scoring="fraction")

    @vf.metric
    async def files(self, runtime: Any) -> float:
        listed = await runtime.run(["ls"], {})
        return float(len(listed.stdout.split()))

    async def validate(self, runtime: Any) -> bool:
        await runtime.write("tests/in.txt", b"2\n")
        done = await runtime.run(["sh", "-c", 'echo "$WHO" && cat tests/in.txt'], {"WHO": "me"})
        return done.stdout == "me\n2\n"


def trace_of(task: Any, reply: str) -> Any:
    trace = vf.Trace(
        task=vf.TraceTask(type="Doubling", data=task.data, key=task.key, hash=task.hash),
        state=vf.State(),
        agent=AgentInfo(config=vf.AgentConfig()),
    )
    message = vf.AssistantMessage(content=reply)
    trace.nodes.append(MessageNode(message=message, sampled=True))
    return trace


def task_of(cases: Any) -> Any:
    return Doubling(Data(idx=0, prompt="double", test_cases=cases))


def test_a_task_is_validated_and_scored_in_the_runtime() -> None:
    async def rewards() -> tuple[bool | None, Any]:
        task = task_of(CASES)
        async with ProctorRuntime(ProctorConfig(cpu=5.0)) as box:
            valid = await task.validate(box)
            trace = trace_of(task, "```python\nprint(int(input()) ** 2)\n```")
            await task.score(trace, runtime=box)
        return valid, trace

    valid, trace = asyncio.run(rewards())
    assert valid
    assert trace.rewards["passed"].value == 0.0
    assert trace.reward == 0.25
    assert trace.metrics["files"] == 1.0


def test_a_fault_fails_the_trace_and_is_no_zero() -> None:
    task = task_of([])
    trace = trace_of(task, "```python\nprint(1)\n```")
    with pytest.raises(vf.TaskError, match="TASK_FAULT"):
        asyncio.run(task.score(trace))
    assert trace.rewards["passed"] is None


class Model(BaseHTTPRequestHandler):
    """An endpoint of OpenAI's protocol that always says the same."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "```python\nprint(2 * int(input()))\n```"}
        body = json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": "fixed",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class OnTheHost(NullHarness):  # type: ignore[misc]
    """Asks the model from here, since a session has no network, and leaves its reply in the box."""

    async def setup(self, runtime: Any) -> None:
        await runtime.write("set-up", b"")

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, *_: Any, **__: Any
    ) -> Any:
        client = openai.AsyncOpenAI(base_url=endpoint, api_key=secret)
        said = await client.chat.completions.create(
            model=ctx.model, messages=[{"role": "user", "content": "double"}]
        )
        await client.close()
        await runtime.write("reply", said.choices[0].message.content.encode())
        return await runtime.run(["true"], {})


def test_a_whole_rollout_in_a_runtime_that_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("FIXED_KEY", "none")
    client = EvalClientConfig(
        base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key_var="FIXED_KEY"
    )

    async def rollout() -> Any:
        agent = vf.Agent(vf.AgentConfig(model="fixed", client=client))
        agent.harness = OnTheHost(NullHarnessConfig(id="null"))
        async with ProctorRuntime(ProctorConfig(cpu=5.0)) as box:
            return await agent.run(task_of(CASES), runtime=box)

    try:
        trace = asyncio.run(rollout())
    finally:
        server.shutdown()
        server.server_close()
    assert trace.errors == []
    assert trace.reward == 1.5
    assert trace.metrics["files"] == 2.0
    kept = vf.Trace.model_validate_json(trace.model_dump_json())
    assert kept.agent.runtime.id.startswith("proctor:")


def test_the_runtime() -> None:
    async def use() -> None:
        async with ProctorRuntime(ProctorConfig(cpu=0.5, disk=8 << 20)) as box:
            assert await box.alive()
            assert (await box.run(["sh", "-c", "exit 3"], {})).exit_code == 3
            over = await box.run(["sh", "-c", "while :; do :; done"], {})
            assert (over.exit_code, "cpu limit" in over.stderr) == (137, True)
            await box.write("a/b", b"12345")
            assert await box.read("a/b") == b"12345"
            assert await box.read("a/b", max_bytes=5) == b"12345"
            with pytest.raises(SandboxError, match="over the 4 byte"):
                await box.read("a/b", max_bytes=4)
            with pytest.raises(SandboxError):
                await box.read("absent", max_bytes=4)
            with pytest.raises(SandboxError):
                await box.write("/etc/x", b"")
            view = box.with_env({"WHO": "view"})
            assert (await view.run(["sh", "-c", "echo $WHO"], {})).stdout == "view\n"
            await box.run(["mkfifo", "go", "done"], {})
            await box.run_background(["sh", "-c", "cat go; echo > done"], {}, "log")
            await box.run(["sh", "-c", "echo began > go; cat done"], {})
            assert await box.read("log") == b"began\n"
        with pytest.raises(SandboxError) as raised:
            await box.run(["true"], {})
        assert isinstance(raised.value.__cause__, SessionEnded)
        assert not await box.alive()
        await box.stop()

    asyncio.run(use())
    with pytest.raises(SandboxError, match="not been started"):
        asyncio.run(ProctorRuntime().run(["true"], {}))
