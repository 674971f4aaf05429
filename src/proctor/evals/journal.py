"""The steps of an agent, each on the disk before it goes on.

An agent that is killed midway, or whose server fails, starts again and gets its recorded steps: no
reply is paid for twice, and no program is tried twice.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from proctor.errors import AgentFault
from proctor.evals.extraction import Extracted, extract
from proctor.evals.models.model import (
    Message,
    Model,
    ModelReply,
    ModelRequest,
    ModelTool,
    TokenUsage,
    ToolCall,
)
from proctor.evals.stored import Turn
from proctor.shown import counted, quoted, shown


@dataclass(frozen=True, slots=True, repr=False)
class Solved:
    """Program that an agent handed in, with its last reply; made by `Journal.solved`."""

    reply: ModelReply
    """Last reply, with the tokens and seconds of all; `code` is the program."""
    turns: int
    """Number of the model's replies."""
    stop_reason: str
    """submitted, agent-stopped, turn-budget, token-budget or time-budget; own agents add others."""

    def __repr__(self) -> str:
        return shown(self, self.stop_reason, counted(self.turns, "turn"), repr(self.reply))


@dataclass(slots=True, repr=False)
class Journal:
    """Model, public tests and record of an agent, for one sample.

    Take one step at a time. Each is on the disk when it returns. An agent that starts again gets
    the recorded steps, without anything being asked or run.
    """

    request: ModelRequest
    """The sample that is worked on."""
    model: Model
    """Model that is asked."""
    run_public: Callable[[str], Awaitable[str]]
    """Runs a program on the public tests only, and returns what the agent is told."""
    recorded: Mapping[int, Turn]
    """Steps of an earlier run, by number."""
    keep: Callable[[Turn], Awaitable[None]]
    """Stores a step; returns when it is on the disk."""
    extract: Callable[[str], Extracted] = extract
    """Takes the program from a reply."""
    made: list[Turn] = field(default_factory=list)
    """Steps so far, with their tokens and seconds."""
    _busy: bool = False
    _handed_in: Solved | None = None

    def __repr__(self) -> str:
        sample = f"sample {self.request.sample} of {quoted(self.request.problem_id)}"
        return shown(self, sample, counted(len(self.made), "step"))

    async def ask(
        self,
        messages: tuple[Message, ...],
        tools: tuple[ModelTool, ...] = (),
        *,
        calls: Callable[[ModelReply], tuple[ToolCall, ...]] = lambda reply: reply.tool_calls,
    ) -> ModelReply:
        """Return the model's reply, with the calls of tools that `calls` finds in it.

        Raises ModelFault, AgentFault.
        """

        async def made() -> Turn:
            request = replace(self.request, messages=messages, tools=tools)
            reply = await self.model.generate(request)
            return self._turn(
                kind="model",
                content=reply.text if reply.code is None else reply.code,
                arguments=msgspec.json.encode(calls(reply)).decode(),
                seconds=reply.seconds,
                prompt_tokens=reply.usage.prompt,
                completion_tokens=reply.usage.completion,
                reasoning_tokens=reply.usage.reasoning,
                cached_tokens=reply.usage.cached,
                reasoning=reply.reasoning,
                finish_reason=reply.finish_reason,
            )

        turn = await self._step(made, kind="model")
        return ModelReply(
            turn.content,
            reasoning=turn.reasoning,
            usage=usage([turn]),
            finish_reason=turn.finish_reason,
            tool_calls=tuple(msgspec.json.decode(turn.arguments, type=list[ToolCall])),
            seconds=turn.seconds,
        )

    async def run_tests(self, code: str) -> str:
        """Run a program on the public tests, and return what the agent is told."""
        arguments = msgspec.json.encode({"code": code}).decode()
        return await self.tool(
            ToolCall("run_tests", "run_tests", arguments), lambda: self.run_public(code)
        )

    async def tool(self, call: ToolCall, do: Callable[[], Awaitable[str]]) -> str:
        """Return a tool's answer, made by `do` only if none is recorded. Raises AgentFault."""

        async def made() -> Turn:
            began = time.monotonic()
            content = await do()
            return self._turn(
                kind="tool",
                name=call.name,
                call_id=call.id,
                content=content,
                arguments=call.arguments,
                seconds=time.monotonic() - began,
            )

        turn = await self._step(made, kind="tool", name=call.name, arguments=call.arguments)
        return turn.content

    def solved(self, code: str | None, stop_reason: str) -> Solved:
        """Hand in a program; None stands for the one in the last reply. Raises AgentFault.

        That is final: it is handed in once, and no step follows.
        """
        self._check_open()
        asked = [turn for turn in self.made if turn.kind == "model"]
        last = asked[-1] if asked else Turn("", 0, 0, "model")
        reply = ModelReply(
            last.content,
            reasoning=last.reasoning,
            usage=usage(asked),
            finish_reason=last.finish_reason,
            code=code if code is not None else self.extract(last.content).code,
            seconds=sum(turn.seconds for turn in asked),
        )
        self._handed_in = Solved(reply, len(asked), stop_reason)
        return self._handed_in

    def check(self, solved: Solved) -> None:
        """Raise AgentFault if another solution than this was handed in."""
        if self._handed_in is not None and self._handed_in != solved:
            raise AgentFault("the agent returned another solution than it had handed in")

    def _check_open(self) -> None:
        if self._handed_in is not None:
            raise AgentFault("the agent went on after it had handed in; that is final")

    def _turn(self, **values: str | float | None) -> Turn:
        """Make the next step. Raises AgentFault for a value of a wrong type."""
        where = {"problem_id": self.request.problem_id, "sample": self.request.sample}
        try:
            return msgspec.convert({**where, "number": len(self.made), **values}, Turn)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise AgentFault(f"step {len(self.made)} cannot be kept: {error}") from error

    async def _step(self, make: Callable[[], Awaitable[Turn]], **like: str) -> Turn:
        """Return the next step, on the disk by then; it is made only if it is not recorded."""
        self._check_open()
        if self._busy:
            raise AgentFault("the agent began a step before the one before it had ended")
        self._busy = True
        try:
            turn = self.recorded.get(len(self.made))
            if turn is None:
                turn = await make()
                await self.keep(turn)
            elif any(getattr(turn, name) != value for name, value in like.items()):
                raise AgentFault(
                    f"step {turn.number} is not the one that was recorded: an agent that goes on "
                    "must take the steps that it took before; begin another run"
                )
        finally:
            self._busy = False
        self.made.append(turn)
        return turn


def usage(turns: Iterable[Turn]) -> TokenUsage:
    """Add up the tokens of replies."""
    made = list(turns)
    return TokenUsage(
        _total(turn.prompt_tokens for turn in made),
        _total(turn.completion_tokens for turn in made),
        _total(turn.reasoning_tokens for turn in made),
        _total(turn.cached_tokens for turn in made),
    )


def _total(counts: Iterable[int | None]) -> int | None:
    """Sum of counts; None if one is not known, since then the sum is not."""
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)
