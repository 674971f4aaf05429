"""Rules about checkers, interactors and managers, which meet outputs that nobody should write."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proctor.errors import CompileFailed
from proctor.grading import Checker
from proctor.judging.checkers import Opinion
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.lint.finding import Finding, tests
from proctor.judging.runners import Graders, compile_submission, runner_of
from proctor.languages import registry
from proctor.limits import Limits
from proctor.problem import Communication, Interactive, Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

_TRIED = 3
"""Tests with which a checker is tried: those with the smallest answers."""
_NEVER_RIGHT = {
    "nothing": b"",
    "words": b"lorem ipsum dolor\n",
    "bytes that are not text": b"\x00\xff\xfe\x80\n",
}
_SHAPED = {
    "words in the shape of a right output": b"x",
    "huge numbers in the shape of a right output": b"9" * 400,
    "negative numbers in the shape of a right output": b"-7",
    "fractions in the shape of a right output": b"0.5",
}
_BEHIND = "words behind a right output"
_TRAILING = b"\n0 1 lorem ipsum\n"
_TRACEBACK = "Traceback (most recent call last)"
_AS_WRONG = "it ends with a Python traceback, whose exit code 1 counts as a wrong answer"
_IDLE = {
    "ends at once": "",
    "prints words and ends": "print('lorem ipsum dolor', flush=True)",
    "prints a huge number and ends": "print('9' * 400, flush=True)",
}
_LANGUAGE = "python"


def of_checker(
    problem: Problem, graders: Graders, environment: JudgingEnvironment, passing: Program | None
) -> Iterator[Finding]:
    """Yield what is wrong with the checker of a batch problem.

    `passing` is a program that passes all tests, None if none is known. Raises InfraFault, and
    InputError if a test's file is gone.
    """
    if not isinstance(problem.grading, Checker) or graders.output.passes > 1:
        return
    named = problem.tests_by_name()
    every = [replace(test, name=name) for name, test in named.items()]
    opinions = {test.name: _grade(graders, environment, test) for test in every}
    answers = {
        test.name: test.output_bytes() for test in every if opinions[test.name].verdict.passed
    }
    failed = {n: o for n, o in opinions.items() if o.verdict is Verdict.TASK_FAULT}
    refused = [name for name in opinions if name not in answers and name not in failed]
    if failed and (passing is None or answers):
        opinion = next(iter(failed.values()))
        yield Finding(
            "checker-fails", f"given the answer of {tests(list(failed))}, {opinion.message}"
        )
    elif refused and (passing is None or answers):
        what = f"the checker does not accept the answer of {tests(refused)}"
        yield Finding("answer-refused", what)
    if passing is not None and not answers:  # the answers are not outputs but help the checker
        answers = _outputs(problem, graders, environment, passing, every[:_TRIED])
    tried = sorted(
        (test for test in every if test.name in answers), key=lambda t: len(answers[t.name])
    )[:_TRIED]
    yield from _odd(graders, environment, [(test, answers[test.name]) for test in tried])


def _grade(
    graders: Graders, environment: JudgingEnvironment, test: Test, output: bytes | None = None
) -> Opinion:
    data = test.output_bytes() if output is None else output
    return graders.output.grade(environment, test, data)[0]


def _outputs(
    problem: Problem,
    graders: Graders,
    environment: JudgingEnvironment,
    program: Program,
    some: Sequence[Test],
) -> dict[str, bytes]:
    """Return a program's outputs in the tests that it passes, by test."""
    built = compile_submission(problem, program, environment)
    found = {}
    for test in some:
        written: list[bytes] = []
        run = runner_of(
            problem.running, program, built, problem.test_limits, graders, environment,
            written.append,
        )  # fmt: skip
        result, _ = run(test)
        if result.verdict.passed and written:
            found[test.name] = written[-1]
    return found


def _odd(
    graders: Graders, environment: JudgingEnvironment, right: Sequence[tuple[Test, bytes]]
) -> Iterator[Finding]:
    crashed: dict[str, str] = {}
    accepted: dict[str, str] = {}
    for test, answer in right:
        for what, output in _outputs_like(answer).items():
            opinion = _grade(graders, environment, test, output)
            if opinion.verdict is Verdict.TASK_FAULT:
                crashed.setdefault(what, f"{opinion.message} (test {test.name})")
            elif _TRACEBACK in opinion.message + opinion.log:
                crashed.setdefault(what, f"{_AS_WRONG} (test {test.name})")
            elif opinion.verdict.passed and (what in _NEVER_RIGHT or what == _BEHIND):
                accepted.setdefault(what, test.name)
    for what, why in crashed.items():
        yield Finding("checker-fails", f"given {what}, {why}")
    for what, name in accepted.items():
        yield Finding("checker-lenient", f"the checker accepts {what} in test {name}")


def _outputs_like(answer: bytes) -> dict[str, bytes]:
    """Return outputs that a checker may mistake for right ones, or stumble over, by description."""
    lines = [line.split() for line in answer.splitlines()]
    found = {what: data for what, data in _NEVER_RIGHT.items() if data.split() != answer.split()}
    for what, word in _SHAPED.items():
        found[what] = b"".join(b" ".join([word] * len(words)) + b"\n" for words in lines)
    if answer.strip():
        found["half of a right output"] = answer[: len(answer) // 2]
        found[_BEHIND] = answer + _TRAILING
    return found


def of_partner(
    problem: Problem, graders: Graders, environment: JudgingEnvironment
) -> Iterator[Finding]:
    """Yield what is wrong with an interactor or manager, tried with programs that do not play.

    Yields nothing if the problem takes no Python. Raises InfraFault, and InputError.
    """
    running = problem.running
    if not isinstance(running, Interactive | Communication):
        return
    allowed = not problem.languages or _LANGUAGE in problem.languages
    if not allowed or (problem.stubs and _LANGUAGE not in problem.stubs):
        return
    who = "interactor" if isinstance(running, Interactive) else "manager"
    name, test = next(iter(problem.tests_by_name().items()))
    limits: Limits = problem.test_limits
    for what, source in _IDLE.items():
        program = Program(source + "\n", registry.get(_LANGUAGE).id)
        try:
            built = compile_submission(problem, program, environment)
        except CompileFailed:
            return
        result, _ = runner_of(running, program, built, limits, graders, environment)(
            replace(test, name=name)
        )
        if result.verdict is Verdict.TASK_FAULT:
            yield Finding("interactor-fails", f"of a program that {what}: {result.message}")
        elif _TRACEBACK in result.message + result.log:
            yield Finding("interactor-fails", f"of a program that {what}: {_AS_WRONG}")
        elif result.verdict.passed:
            yield Finding("interactor-lenient", f"the {who} accepts a program that {what}")
