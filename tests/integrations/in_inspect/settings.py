"""What is told of settings that cannot be used; prints the errors' names.

Run by a Python that has inspect_ai and proctor, see ../test_inspect_ai.py.
"""

import json
import os
import sys
from pathlib import Path

import anyio
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState

from proctor.errors import ProctorError
from proctor.integrations.inspect_ai import (
    ProctorSandboxEnvironment,
    SandboxConfig,
    proctor_judge,
)


async def begin(config) -> None:
    await ProctorSandboxEnvironment.task_init("t", config)
    await ProctorSandboxEnvironment.task_cleanup("t", config, True)


async def open_one(config) -> None:
    environments = await ProctorSandboxEnvironment.sample_init("t", config, {})
    await ProctorSandboxEnvironment.sample_cleanup("t", config, environments, False)


async def score_without_tests() -> None:
    state = TaskState(
        model=ModelName("mockllm/model"), sample_id="s", epoch=1, input="", messages=[],
        output=ModelOutput.from_content("m", "```python\nprint(1)\n```"), metadata={},
    )  # fmt: skip
    await proctor_judge()(state, Target("t"))


async def told(call) -> str:
    try:
        done = call()
        if done is not None and hasattr(done, "__await__"):
            await done
    except ProctorError as error:
        return type(error).__name__
    return "none"


async def main(place: Path) -> dict:
    def file(name: str, text: str) -> str:
        (place / name).write_text(text)
        return str(place / name)

    unknown = file("unknown.yaml", "memry: 1G\n")
    size = file("size.yaml", "memory: much\n")
    toml = file("bad.toml", "memory = = 1\n")
    os.environ["PROCTOR_ALLOW_UNSAFE"] = "1"
    return {
        "unknown key": await told(lambda: begin(unknown)),
        "bad size": await told(lambda: begin(size)),
        "bad toml": await told(lambda: begin(toml)),
        "absent file": await told(lambda: begin(str(place / "absent.yaml"))),
        "absent level": await told(lambda: begin(SandboxConfig(isolation="moat"))),
        "level without sessions": await told(
            lambda: open_one(SandboxConfig(isolation="container"))
        ),
        "no tests": await told(score_without_tests),
        "unknown policy": await told(lambda: proctor_judge(extract="guess")),
        "unknown language": await told(lambda: proctor_judge(language="klingon")),
        "defaults": (await told(lambda: open_one(None))) == "none",
    }


print(json.dumps(anyio.run(main, Path(sys.argv[1]))))
