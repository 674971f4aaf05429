"""The tool for LangChain, called as its agents call tools."""

import asyncio
from collections.abc import Iterator

import pytest

import needs
from proctor import Limits, Session, open_session
from proctor.errors import SessionEnded

pytest.importorskip("langchain_core", reason=needs.package("langchain-core"))

from langchain_core.messages import ToolCall, ToolMessage

from proctor.integrations.langchain import ProctorPython

pytestmark = pytest.mark.package("langchain-core")
LIMITS = Limits(cpu=5.0, memory=256 << 20, processes=16, disk=8 << 20, output=1 << 20)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(limits=LIMITS) as opened:
        yield opened


def test_a_call_of_an_agent(session: Session) -> None:
    tool = ProctorPython(session)
    assert tool.tool_call_schema.model_json_schema()["required"] == ["code"]
    call = ToolCall(
        name="python", args={"code": "n = 6\nprint('so')\nn * 7"}, id="1", type="tool_call"
    )
    message = tool.invoke(call)
    assert isinstance(message, ToolMessage)
    assert (message.content, message.tool_call_id) == ("so\n42", "1")
    assert asyncio.run(tool.ainvoke({"code": "n"})) == "6"


def test_what_goes_wrong_is_told(session: Session) -> None:
    tool = ProctorPython(session, cpu=0.5, most_characters=2000)
    assert tool.invoke({"code": "1 / 0"}).endswith("ZeroDivisionError: division by zero")
    assert "cpu limit" in tool.invoke({"code": "while True: pass"})
    long = tool.invoke({"code": "print('x' * 5000)"})
    assert "[... 3000 characters left out ...]" in long


def test_its_own_session_ends_with_it() -> None:
    with ProctorPython() as tool:
        assert tool.invoke({"code": "1 + 1"}) == "2"
    with pytest.raises(SessionEnded):
        tool.invoke({"code": "1"})
