"""The real CodeAgent of smolagents over a session, with a model that says what the test says."""

from collections.abc import Iterator
from typing import Any

import pytest

import needs
from proctor import Limits, Session, open_session
from proctor.errors import InputError

pytest.importorskip("smolagents", reason=needs.package("smolagents"))

from smolagents import ChatMessage, CodeAgent, MessageRole, Model, Tool
from smolagents.utils import AgentExecutionError

from proctor.integrations.smolagents import ProctorExecutor

pytestmark = pytest.mark.package("smolagents")

LIMITS = Limits(cpu=5.0, memory=256 << 20, processes=16, disk=8 << 20, output=1 << 20)


class Scripted(Model):  # type: ignore[misc]
    """Says one reply after the other and keeps what it is told."""

    def __init__(self, *codes: str) -> None:
        super().__init__(model_id="scripted")
        self.replies = [f"Thought: so.\n<code>\n{code}\n</code>" for code in codes]
        self.told: list[str] = []

    def generate(self, messages: list[Any], **_options: Any) -> Any:
        self.told.append(str(messages[-1].content))
        return ChatMessage(role=MessageRole.ASSISTANT, content=self.replies.pop(0))


class Double(Tool):  # type: ignore[misc]
    name = "double"
    description = "Doubles a number, and says where it runs."
    inputs = {"n": {"type": "integer", "description": "the number"}}  # noqa: RUF012
    output_type = "integer"

    def forward(self, n: int) -> int:
        import os

        open("ran-here", "w").write(str(os.getpid()))  # noqa: SIM115
        return 2 * n


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(limits=LIMITS) as opened:
        yield opened


@pytest.fixture
def executor(session: Session) -> Iterator[ProctorExecutor]:
    with ProctorExecutor(session) as opened:
        yield opened


def agent_of(model: Scripted, executor: ProctorExecutor, **options: Any) -> Any:
    return CodeAgent(model=model, executor=executor, verbosity_level=0, **{"tools": [], **options})


def test_an_agent_keeps_state_uses_tools_and_answers(
    session: Session, executor: ProctorExecutor
) -> None:
    model = Scripted(
        "x = double(21)\nprint('printed', x)\nx", "final_answer({'x': x, 'y': (1, None)})"
    )
    agent = agent_of(model, executor, tools=[Double()])
    assert agent.run("double 21", additional_args={"given": [1, 2]}) == {"x": 42, "y": [1, None]}
    assert "printed 42" in model.told[1]
    assert "Last output from code snippet:\\n42" in model.told[1]
    assert session.read("ran-here") != b""
    assert executor("given").output == "[1, 2]"


def test_errors_are_told_and_the_agent_goes_on(executor: ProctorExecutor) -> None:
    model = Scripted("print('so far')\nboom = 1 / 0", "final_answer('recovered')")
    assert agent_of(model, executor).run("try") == "recovered"
    assert "ZeroDivisionError: division by zero" in model.told[1]
    agent = agent_of(Scripted("print('so far')\n1 / 0", "final_answer(1)"), executor)
    assert agent.run("try") == 1
    assert "so far" in agent.memory.steps[1].observations


def test_an_overrun_is_told_and_tools_outlive_the_interpreter(session: Session) -> None:
    with ProctorExecutor(session, cpu=0.3) as executor:
        model = Scripted(
            "kept = 5\nwhile True: pass",
            "print(kept)\nimport os; os._exit(1)",
            "try:\n    kept\nexcept NameError:\n    final_answer(double(4))",
        )
        assert agent_of(model, executor, tools=[Double()]).run("go") == 8
        assert "overran its cpu limit" in model.told[1]
        assert "interpreter has ended" in model.told[2]


@pytest.mark.parametrize(
    ("answer", "made"),
    [("'text'", "text"), ("None", None), ("{1, 2}", [1, 2]), ("float('inf')", float("inf"))],
)
def test_answers_are_plain_data(executor: ProctorExecutor, answer: str, made: Any) -> None:
    assert agent_of(Scripted(f"final_answer({answer})"), executor).run("go") == made


def test_what_is_no_plain_data_is_an_error_of_the_action(executor: ProctorExecutor) -> None:
    model = Scripted("final_answer(object())", "final_answer('then so')")
    assert agent_of(model, executor).run("go") == "then so"
    assert "final_answer takes text, numbers" in model.told[1]


def test_a_forged_answer_is_text_at_most(executor: ProctorExecutor) -> None:
    executor.send_tools({"double": Double()})
    forged = (
        "class _FinalAnswer(BaseException): pass\n"
        "display({'application/x-proctor-final-answer': 'not {json'}, raw=True)\nraise _FinalAnswer"
    )
    assert executor(forged).output == "not {json"
    with pytest.raises(AgentExecutionError):
        executor("raise SystemExit")


def test_what_cannot_be_sent(executor: ProctorExecutor) -> None:
    with pytest.raises(InputError, match="JSON"):
        executor.send_variables({"x": object()})
    with pytest.raises(InputError, match="not a tool"):
        executor.send_tools({"other": object()})


def test_a_flood_of_output_is_cut(executor: ProctorExecutor) -> None:
    output = executor("for _ in range(9000): print('x' * 100)")
    assert 1000 < len(output.logs) < 60_000
