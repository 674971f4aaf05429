"""Agents: a model that reads the problem, writes a program, tries it, and hands it in.

It can run the public tests only; the hidden ones grade what it hands in. Every step is kept (see
journal.py). A model without tool calls writes blocks and words instead (protocol `text`). A user's
own agent can replace it: see own_agent.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import msgspec

from proctor.errors import SettingsError
from proctor.evals.journal import Journal, Solved
from proctor.evals.models.model import Message, ModelReply, ModelTool, ToolCall
from proctor.formats.replies import code_blocks
from proctor.text import well_formed

Channel = Literal["tools", "text"]

_CODE = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
TOOLS = (
    ModelTool("read_problem", "Read the problem again."),
    ModelTool("write_solution", "Write the whole program; it replaces the one before.", _CODE),
    ModelTool("run_tests", "Run the program on the public tests."),
    ModelTool("submit", "Hand in the program. It is graded on hidden tests; this ends the work."),
)
_NAMES = tuple(tool.name for tool in TOOLS)
_TOOLS_GUIDE = (
    "You solve programming contest problems in Python 3 with tools: write_solution, run_tests on "
    "the public tests, submit. Hidden tests grade what you submit."
)
_TEXT_GUIDE = (
    "You solve programming contest problems in Python 3, step by step. In each reply, give your "
    "whole program in a fenced python block to write it; then, on lines of their own, RUN_TESTS to "
    "run it on the public tests, READ_PROBLEM to read the problem again, SUBMIT to hand it in. "
    "Hidden tests grade what you submit."
)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Bounds of the built-in agent, which stops at the first that it reaches.

    Raises SettingsError for an unknown channel.
    """

    turns: int = 10
    """Replies of the model."""
    tokens: int | None = None
    """Completion tokens."""
    seconds: float | None = None
    """Seconds of model and tools."""
    channel: Channel = "tools"
    """Protocol of the built-in agent: calls of tools, or fenced blocks in plain text."""

    def __post_init__(self) -> None:
        if self.channel not in get_args(Channel):
            raise SettingsError(f"an agent's protocol is tools or text, not {self.channel!r}")


class AgenticAdapter(Protocol):
    """Protocol of an agent that works on one sample of a problem at a time.

    Samples may be under way side by side. All that an agent asks and tries goes through the
    journal, which stores it. An agent that was stopped midway starts again and is handed the
    stored answers, so it must take the same steps again.
    """

    def messages(self, prompt: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return the first messages, given the single-shot prompt; their hash is recorded."""
        ...

    async def solve(self, prompt: tuple[Message, ...], journal: Journal) -> Solved:
        """Work until done or stopped; `prompt` is what `messages` made. Lets ModelFault pass."""
        ...


@dataclass(frozen=True, slots=True)
class ToolAgent:
    """The built-in agent: a loop of replies and tools."""

    budgets: Budgets = Budgets()

    def messages(self, prompt: tuple[Message, ...]) -> tuple[Message, ...]:
        guide = _TEXT_GUIDE if self.budgets.channel == "text" else _TOOLS_GUIDE
        return (
            Message("system", guide),
            *(message for message in prompt if message.role != "system"),
        )

    async def solve(self, prompt: tuple[Message, ...], journal: Journal) -> Solved:
        return await _Work(self.budgets, prompt, journal).done()


class _Work:
    def __init__(self, budgets: Budgets, prompt: tuple[Message, ...], journal: Journal) -> None:
        self._budgets = budgets
        self._tools = TOOLS if budgets.channel == "tools" else ()
        self._problem = prompt[-1].content
        self._messages = prompt
        self._journal = journal
        self._code: str | None = None
        self._submitted = False

    async def done(self) -> Solved:
        """Let the model work until it is done or a budget is spent."""
        reason = ""
        while not reason and not (reason := self._spent()):
            reply = await self._journal.ask(self._messages, self._tools, calls=self._calls)
            calls = reply.tool_calls
            results = [(call, await self._result(call)) for call in calls]
            if self._submitted:
                reason = "submitted"
            elif not calls:
                reason = "agent-stopped"
            self._add(reply.text, calls, results)
        return self._journal.solved(self._code, reason)

    def _calls(self, reply: ModelReply) -> tuple[ToolCall, ...]:
        return tuple(calls_in(reply.text)) if self._budgets.channel == "text" else reply.tool_calls

    def _spent(self) -> str:
        asked = [turn for turn in self._journal.made if turn.kind == "model"]
        budgets = self._budgets
        if len(asked) >= budgets.turns:
            return "turn-budget"
        written = sum(turn.completion_tokens or 0 for turn in asked)
        if budgets.tokens is not None and written >= budgets.tokens:
            return "token-budget"
        spent = sum(turn.seconds for turn in self._journal.made)
        if budgets.seconds is not None and spent >= budgets.seconds:
            return "time-budget"
        return ""

    async def _result(self, call: ToolCall) -> str:
        """Return a tool's answer. After a restart, programs are written again, but not run again.

        Handing in is final: later calls of the same reply are answered, but not carried out.
        """
        if self._submitted:
            return await self._journal.tool(call, _too_late)
        written = self._written(call) if call.name == "write_solution" else None
        self._submitted = call.name == "submit" and self._code is not None
        return await self._journal.tool(call, lambda: self._called(call, written))

    def _written(self, call: ToolCall) -> str:
        try:
            code: Any = msgspec.json.decode(call.arguments, type=dict[str, Any]).get("code")
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return f"The arguments are not JSON: {error}"
        if not isinstance(code, str) or not code.strip():
            return "Give the whole program as the string `code`."
        self._code = code
        return "Written."

    async def _called(self, call: ToolCall, written: str | None) -> str:
        if written is not None:
            return written
        if call.name == "read_problem":
            return self._problem
        if call.name not in _NAMES:
            return f"There is no tool {call.name!r}; there are {', '.join(_NAMES)}."
        if self._code is None:
            return "There is no program yet: write_solution first."
        if call.name == "run_tests":
            return await self._journal.run_public(self._code)
        return "Handed in."

    def _add(
        self, text: str, calls: tuple[ToolCall, ...], results: Iterable[tuple[ToolCall, str]]
    ) -> None:
        """Add a reply and a result for each call: servers refuse conversations that lack one."""
        added: list[Message]
        if self._budgets.channel == "text":
            said = "\n\n".join(f"{call.name}: {result}" for call, result in results)
            added = [Message("assistant", text), Message("user", said or "Go on.")]
        else:
            added = [Message("assistant", text, calls)]
            added += [Message("tool", result, (), call.id) for call, result in results]
        self._messages = (*self._messages, *added)


async def _too_late() -> str:
    return "Not done: the program has been handed in."


def calls_in(reply: str) -> Iterable[ToolCall]:
    """Find the tools that a reply of protocol `text` asks for, in a fixed order, SUBMIT last.

    What follows SUBMIT is not read: it would replace what was handed in.
    """
    reply = _up_to_submit(well_formed(reply))
    blocks = [code for _, code in code_blocks(reply, "python") if code.strip()]
    if blocks:
        arguments = msgspec.json.encode({"code": blocks[-1]}).decode()
        yield ToolCall("write", "write_solution", arguments)
    lines = {line.strip() for line in reply.splitlines()}
    for name in ("READ_PROBLEM", "RUN_TESTS", "SUBMIT"):
        if name in lines:
            yield ToolCall(name.lower(), name.lower(), "{}")


def _up_to_submit(reply: str) -> str:
    inside = False
    lines = reply.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare[:3] in {"```", "~~~"}:
            inside = not inside
        elif bare == "SUBMIT" and not inside:
            return "".join(lines[:number])
    return reply
