"""An eval with inspect_ai's own mock model, through provider and scorer; prints what is in its log.

Run by a Python that has inspect_ai and proctor, see ../test_inspect_ai.py.
"""

import json
import sys
import threading

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import TaskState, generate, solver, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import sandbox

from proctor.integrations.inspect_ai import proctor_judge
from proctor.languages.run import default_pool

DOUBLE = {"tests": [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}]}
ROW = {
    "public_test_cases": json.dumps([{"input": "[1, 2]", "output": "3", "testtype": "functional"}]),
    "private_test_cases": json.dumps([{"input": "[]", "output": "0", "testtype": "functional"}]),
    "metadata": json.dumps({"func_name": "total"}),
}
TOTAL = "class Solution:\n    def total(self, numbers):\n        return sum(numbers)\n"
REPLIES = {
    "right": "```python\nprint(2 * int(input()))\n```",
    "wrong": "```python\nprint(int(input()) ** 2)\n```",
    "call": f"```python\n{TOTAL}```",
    "none": "I would rather not.",
    "broken": "```python\nprint(1)\n```",
    "harmed": "```python\nwhile True: pass\n```",
}
METADATA = {
    "call": ROW,
    "broken": {"tests": [{"input": 1}]},
    "harmed": {"tests": [{"input": "", "output": "the host will see to it"}]},
}


def answer(messages, tools, tool_choice, config):
    """First look at the sandbox by tool, then answer."""
    name = messages[0].text
    if not any(isinstance(message, ChatMessageTool) for message in messages):
        command = "cat given.txt; ls -a; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline"
        output = ModelOutput.for_tool_call("mockllm/model", "bash", {"command": command})
    else:
        output = ModelOutput.from_content("mockllm/model", REPLIES[name])
    output.usage = ModelUsage()  # or it is estimated, by a tokenizer from the net
    return output


@solver
def leave_a_note():
    async def solve(state: TaskState, generate) -> TaskState:
        before = await sandbox().exec(["ls", "note"])
        await sandbox().write_file("note", str(state.sample_id))
        state.store.set("note was there", before.success)
        return state

    return solve


def harm(over: threading.Event) -> None:
    """Take away each cell in which a program of the scorer never ends."""
    while not over.wait(0.05):
        for cell in list(default_pool()._live.values()):
            if any(pid for pid in cell.job_pids()) and cell.jobs and sleeper(cell):
                cell.kill()


def sleeper(cell) -> bool:
    """Whether a job of this cell has used more CPU than any honest one here does."""
    from proctor.sandbox.machine import procfs

    return sum(map(procfs.cpu_seconds, cell.job_pids())) > 1.5


def main(logs: str) -> None:
    samples = [
        Sample(input=name, id=name, metadata=METADATA.get(name, DOUBLE), files={"given.txt": name})
        for name in REPLIES
    ]
    samples[0].setup = "echo by the setup script > made.txt"
    task = Task(
        dataset=samples,
        solver=[leave_a_note(), use_tools(bash(timeout=60)), generate()],
        scorer=proctor_judge(cpu="20s"),
        sandbox=("proctor", sys.argv[2]),
        name="programs",
    )
    over = threading.Event()
    harming = threading.Thread(target=harm, args=(over,))
    harming.start()
    model = get_model("mockllm/model", custom_outputs=answer)
    log = evaluate(task, model=model, log_dir=logs, display="none")[0]
    over.set()
    harming.join()
    shown = {
        "status": log.status,
        "error": log.error.message if log.error else None,
        "metrics": {
            name: metric.value for name, metric in log.results.scores[0].metrics.items()
        } if log.results else {},
        "counted": [
            [score.scored_samples, score.unscored_samples] for score in log.results.scores
        ] if log.results else [],
        "samples": {
            sample.id: {
                "error": sample.error.message if sample.error else None,
                "score": [
                    [str(score.value), score.reason, score.explanation]
                    for score in (sample.scores or {}).values()
                ],
                "seen": [message.text for message in sample.messages if message.role == "tool"],
                "note was there": sample.store.get("note was there"),
            }
            for sample in log.samples or []
        },
    }  # fmt: skip
    print(json.dumps(shown))


main(sys.argv[1])
