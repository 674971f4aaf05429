"""One sample with its texts: what was asked, what came back, what was judged."""

from collections.abc import Iterator
from typing import Any

import msgspec

from proctor.errors import InputError, NotFound
from proctor.evals.details import detail_of
from proctor.evals.records import current_judges, settings_of
from proctor.evals.replaying.runs import outcome_of
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, Sample, SampleJudgement, Turn
from proctor.judgement import TestResult
from proctor.text import well_formed
from proctor.view.cut import CutText

_LONG, _SHORT, _NAME = 50_000, 2_000, 200
"""Characters that are shown at once: of a sample's own text, of a message, of a title."""
_MOST_PIECES = 300
"""Messages, turns and tests that are listed."""
_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_WORDS = ("policy", "rule", "no_program", "finish_reason", "stop_reason", "fault")


class SaidText(msgspec.Struct, frozen=True):
    """A message of the prompt, or an agent's turn."""

    who: str
    """Role of a message; `model` or the tool's name of a turn."""
    content: CutText
    reasoning: CutText | None = None
    arguments: CutText | None = None
    """JSON: arguments of a tool, or all calls of a reply."""
    seconds: float = 0.0


class TestLine(msgspec.Struct, frozen=True):
    """One test that was run, without its texts."""

    name: str
    """The test's name; its position, from 0, where it has none."""
    verdict: str
    cpu: float
    """CPU seconds."""
    memory: int
    """Peak bytes."""
    message: str

    @classmethod
    def of(cls, name: str, result: TestResult) -> "TestLine":
        """Describe a result; its message is cut."""
        return cls(name, result.verdict, result.cpu, result.memory, result.message[:_SHORT])


class JudgementView(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement that counts."""

    mode: str
    verdict: str
    score: float
    message: CutText
    cpu: float
    """CPU seconds of all tests."""
    slowest_share: float | None
    level: str
    """Isolation level."""
    tests: list[TestLine]
    tests_run: int
    unreadable: str = ""
    """Reason why the tests' results cannot be read."""
    earlier: list[str]
    """Verdicts of earlier rounds."""


class SampleView(msgspec.Struct, frozen=True, kw_only=True):
    """A sample as it is shown; texts are cut."""

    run: str
    problem: dict[str, Any]
    """Id, title, platform and the like; the statement is in the prompt."""
    sample: int
    facts: dict[str, Any]
    """Tokens, seconds, rule of extraction and the like, where they are known."""
    fault_message: str
    prompt: list[SaidText]
    reply: CutText
    reasoning: CutText
    turns: list[SaidText]
    program: CutText
    judgements: list[JudgementView]
    recorded: dict[str, str]
    """Input, expected and actual of the first failing test, as official mode recorded them."""
    source: str
    """Source of the problem's tests."""
    position: int | None = None
    """Position among the chosen samples, from 1."""
    found: int = 0
    previous: tuple[str, int] | None = None
    next: tuple[str, int] | None = None


def sample_view(store: RunStore, run: str, problem_id: str, number: int) -> SampleView:
    """Read one sample. Raises NotFound, InputError."""
    sample, made = _found(store, problem_id, number)
    info, settings = store.problem(problem_id), settings_of(store)
    judges = current_judges(store, settings)
    current = [each for each in sample.judgements if judges.get(each.mode) == each.judge]
    about = msgspec.to_builtins(info)
    detail = detail_of(sample, judges)
    recorded = {"input": detail.input, "expected": detail.expected, "actual": detail.actual}
    facts = {name: getattr(made, name) for name in (*_COUNTS, *_WORDS, "turns")}
    return SampleView(
        run=run,
        problem={
            name: well_formed(str(about[name])[: None if name == "id" else _NAME])
            for name in ("id", "title", "platform", "difficulty", "published", "contest")
            if about.get(name)
        },
        sample=number,
        facts={name: value for name, value in facts.items() if value not in {None, ""}}
        | {"seconds": made.seconds},
        fault_message=made.fault_message[:_SHORT],
        prompt=_prompt(store, made),
        reply=CutText.of(made.text, _LONG, "reply"),
        reasoning=CutText.of(made.reasoning, _LONG, "reasoning"),
        turns=[_turn(each) for each in store.turns(problem_id, number)[:_MOST_PIECES]],
        program=CutText.of(made.code, _LONG, "program"),
        judgements=[_judgement(each, sample) for each in current],
        recorded={name: text[:_LONG] for name, text in recorded.items() if text},
        source=str(store.recall("source") or settings.source),
    )  # fmt: skip


def whole_text(store: RunStore, problem_id: str, number: int, part: str) -> str:
    """Return a whole text of a sample by its `CutText.part`. Raises NotFound, InputError."""
    sample, made = _found(store, problem_id, number)
    kind, _, rest = part.partition(".")
    texts: dict[str, str] = {"reply": made.text, "reasoning": made.reasoning, "program": made.code}
    if kind == "prompt":
        texts |= {f"prompt.{n}": text for n, (_, text) in enumerate(_messages(store, made))}
    if kind == "message":
        texts |= {f"message.{each.mode}": each.message for each in sample.judgements}
    if kind == "turn":
        for each in store.turns(problem_id, number):
            texts |= {
                f"turn.{each.number}.{name}": getattr(each, name)
                for name in ("content", "reasoning", "arguments")
            }
    if part not in texts:
        raise NotFound(f"the sample has no text {kind!r}{f' {rest!r}' if rest else ''}")
    return texts[part]


def _found(store: RunStore, problem_id: str, number: int) -> tuple[Sample, Generation]:
    sample = store.sample(problem_id, number)
    if sample is None or sample.generation is None:
        raise NotFound(f"sample {number} of {problem_id!r} is not there, or not made yet")
    return sample, sample.generation


def _messages(store: RunStore, made: Generation) -> Iterator[tuple[str, str]]:
    for message in store.prompt(made.prompt_hash) or ():
        content = message.get("content")
        text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
        yield str(message.get("role", "")), text


def _prompt(store: RunStore, made: Generation) -> list[SaidText]:
    messages = list(_messages(store, made))[:_MOST_PIECES]
    return [
        SaidText(role, CutText.of(text, _LONG, f"prompt.{n}"))
        for n, (role, text) in enumerate(messages)
    ]


def _turn(turn: Turn) -> SaidText:
    def cut(name: str) -> CutText:
        return CutText.of(getattr(turn, name), _SHORT * 5, f"turn.{turn.number}.{name}")

    return SaidText(
        turn.name or turn.kind, cut("content"), cut("reasoning") if turn.reasoning else None,
        cut("arguments") if turn.arguments else None, turn.seconds,
    )  # fmt: skip


def _judgement(judged: SampleJudgement, sample: Sample) -> JudgementView:
    unreadable = ""
    tests: tuple[TestResult, ...] = ()
    try:
        tests = outcome_of(judged, f"{sample.problem_id}:{sample.number}").tests
    except InputError as error:
        unreadable = error.message
    earlier = (each for each in sample.judgements if each.mode == judged.mode)
    return JudgementView(
        mode=judged.mode, verdict=judged.verdict, score=judged.score,
        message=CutText.of(judged.message, _SHORT, f"message.{judged.mode}"), cpu=judged.cpu,
        slowest_share=judged.slowest_share, level=judged.level,
        tests=[
            TestLine.of(each.name or str(at), each)
            for at, each in enumerate(tests[:_MOST_PIECES])
        ],
        tests_run=len(tests), unreadable=unreadable,
        earlier=[each.verdict for each in earlier if each.judge != judged.judge],
    )  # fmt: skip
