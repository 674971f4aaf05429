"""Looking for an input on which a program fails that another one, known to be right, solves."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from proctor.errors import CompileFailed, InfraFault, InputError
from proctor.grading import Checker
from proctor.judgement import TestResult
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.input_programs import InputProgram
from proctor.judging.runners import (
    Graders,
    RunTest,
    compile_graders,
    compile_submission,
    runner_of,
)
from proctor.judging.shrink import shrink
from proctor.languages.compiler import Built
from proctor.problem import Batch, OutputOnly, Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

RIGHT = "right"
"""Name under which a failure of the right program itself is reported."""
ACCEPTING = frozenset({0, 42})
"""Exit codes by which a validator accepts: testlib's, and Kattis's."""
_FURTHER = 200  # seeds that are tried for a smaller input where there is no validator


@dataclass(frozen=True, slots=True)
class StressPlan:
    """Programs that are set against each other, and how inputs for them are made."""

    problem: Problem
    """How they are run and graded; its tests are not used."""
    right: Program
    wrong: Mapping[str, Program]
    """Programs by name, for each of which an input is sought on which it fails."""
    generator: Program
    """Program that prints an input, the same for the same arguments."""
    args: tuple[str, ...] = ("{seed}",)
    """Arguments of the generator; {seed} and {size} are replaced."""
    validator: Program | None = None
    """Program that gets an input on stdin, and accepts it by exit code 0 or 42."""
    tests: int = 1000
    seed: int = 1
    """Seed of the first input; each further one has the next."""
    size: int = 100
    """{size} grows from 1 to this, evenly over all tests."""
    tries: int = 1000
    """Smaller inputs to try once one is found; 0: none."""

    def __post_init__(self) -> None:
        if isinstance(self.problem.running, OutputOnly):
            raise InputError("there is no program to run in an output-only problem")
        if not any("{seed}" in each for each in self.args):
            what = "must have {seed} in it: without, all inputs are the same"
            raise InputError(what, field="args")


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which a program fails."""

    program: str
    """Its name; RIGHT for the right one."""
    seed: int
    """Seed of the generated input."""
    input: bytes
    answer: bytes
    """Output of the right program; empty where an interactor or manager decides."""
    output: bytes | None
    """Output of the failing program, None if there is none to show."""
    result: TestResult
    generated: int
    """Bytes of the input before it was shrunk."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One input, and what the programs made of it."""

    test: Test
    results: Mapping[str, tuple[TestResult, bytes | None]] = field(default_factory=dict)
    refused: str | None = None
    """Why the validator does not accept the input; None if it does."""

    def failed(self, name: str) -> bool:
        return name in self.results and self.results[name][0].verdict is not Verdict.AC


def stress(
    plan: StressPlan,
    environment: JudgingEnvironment,
    tested: Callable[[int], object] = int,
) -> Iterator[Counterexample]:
    """Yield a counterexample for each wrong program for which one is found, as it is found.

    If the right program fails, its counterexample is the last. `tested` is called with the number
    of inputs so far. What is found does not depend on how many programs run at once. Raises
    InputError if a program does not compile, the generator fails, its input is not valid, or a
    checker or interactor fails; NoLanguage, InfraFault.
    """
    search = _Search(plan, environment)
    standing = set(plan.wrong)
    seen: set[bytes] = set()
    for number, attempt in enumerate(search.attempts(standing), 1):
        assert isinstance(attempt.test.input, bytes)
        tested(number)
        digest = hashlib.blake2b(attempt.test.input, digest_size=16).digest()
        if digest in seen:  # the smallest inputs are made often
            continue
        seen.add(digest)
        names = [RIGHT] if attempt.failed(RIGHT) else sorted(standing)
        for name in names:
            if attempt.failed(name):
                standing.discard(name)
                yield search.counterexample(number - 1, name, attempt)
        if names == [RIGHT] or not standing:
            return


class _Search:
    def __init__(self, plan: StressPlan, environment: JudgingEnvironment) -> None:
        self._plan, self._environment = plan, environment
        self._graders: Graders = compile_graders(plan.problem, environment)
        self._generator = InputProgram.compiled(plan.generator, "generator", environment)
        self._validator = (
            None
            if plan.validator is None
            else InputProgram.compiled(plan.validator, "validator", environment)
        )
        self._programs = {RIGHT: plan.right, **plan.wrong}
        self._built = {name: self._compiled(name, each) for name, each in self._programs.items()}

    def _compiled(self, name: str, program: Program) -> Built:
        try:
            return compile_submission(self._plan.problem, program, self._environment)
        except CompileFailed as error:
            raise InputError(f"{error}\n{error.output}", file=name) from error

    def attempts(self, standing: set[str]) -> Iterator[_Attempt]:
        """Yield the attempt made with each generated input, in the order of seeds."""
        ahead: deque[Future[_Attempt]] = deque()
        numbers = iter(range(self._plan.tests))
        with ThreadPoolExecutor(self._environment.cells) as threads:
            try:
                while True:
                    while len(ahead) < self._environment.cells:
                        number = next(numbers, None)
                        if number is None:
                            break
                        ahead.append(threads.submit(self._attempt, number, frozenset(standing)))
                    if not ahead:
                        return
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()

    def _size(self, number: int) -> int:
        plan = self._plan
        return 1 + number * (plan.size - 1) // max(plan.tests - 1, 1)

    def _generated(self, number: int, size: int) -> bytes:
        values = {"{seed}": f"{self._plan.seed + number}", "{size}": f"{size}"}
        args = list(self._plan.args)
        for mark, value in values.items():
            args = [each.replace(mark, value) for each in args]
        return self._generator.make(self._environment, tuple(args))

    def _attempt(self, number: int, names: frozenset[str]) -> _Attempt:
        data = self._generated(number, self._size(number))
        attempt = self.tried(data, names)
        if attempt.refused is not None:
            seed = self._plan.seed + number
            raise InputError(f"what the generator makes of seed {seed} is not valid: "
                             f"{attempt.refused}")  # fmt: skip
        return attempt

    def tried(self, data: bytes, names: frozenset[str]) -> _Attempt:
        """Give an input to the right program and to those named."""
        test = Test(data, b"", name="stress")
        if self._validator is not None:
            refusal = self._validator.refusal(self._environment, data, ACCEPTING)
            if refusal is not None:
                return _Attempt(test, refused=refusal.why)
        result, answer = self._run(RIGHT, test)
        if isinstance(self._plan.problem.running, Batch) and answer is not None:
            test = replace(test, output=answer)
            if isinstance(self._plan.problem.grading, Checker):
                result, _ = self._run(RIGHT, test)  # a checker may refuse even this output
            else:
                result = replace(result, verdict=Verdict.AC)
        results = {RIGHT: (result, answer)}
        if result.verdict is Verdict.AC:
            results |= {name: self._run(name, test) for name in names}
        for name, (each, output) in results.items():
            if each.verdict is Verdict.TASK_FAULT and name != RIGHT:
                # The grader does not fail on the right program, so this one is to blame.
                results[name] = replace(each, verdict=Verdict.WA), output
            elif each.verdict.is_fault:
                kind = InfraFault if each.verdict is Verdict.INFRA_FAULT else InputError
                raise kind(f"{each.verdict} of {name}: {each.message} {each.log}".rstrip())
        return _Attempt(test, results)

    def _run(self, name: str, test: Test) -> tuple[TestResult, bytes | None]:
        written: list[bytes] = []
        problem = self._plan.problem
        run: RunTest = runner_of(
            problem.running, self._programs[name], self._built[name], problem.test_limits,
            self._graders, self._environment, written.append,
        )  # fmt: skip
        result, _ = run(test)
        return result, written[-1] if written else None

    def counterexample(self, number: int, name: str, attempt: _Attempt) -> Counterexample:
        """Return the failure of a program, on as small an input as can be found."""
        assert isinstance(attempt.test.input, bytes)
        generated = attempt.test.input
        best = attempt
        names = frozenset({name} - {RIGHT})

        def fails(data: bytes) -> bool:
            nonlocal best
            found = self.tried(data, names)
            if not found.failed(name):
                return False
            best = found
            return True

        if self._validator is not None:
            shrink(generated, fails, self._plan.tries)
        else:
            number = self._smaller_seed(number, generated, fails)
        result, output = best.results[name]
        assert isinstance(best.test.input, bytes)
        assert isinstance(best.test.output, bytes)
        return Counterexample(
            name, self._plan.seed + number, best.test.input, best.test.output, output, result,
            len(generated),
        )  # fmt: skip

    def _smaller_seed(self, number: int, generated: bytes, fails: Callable[[bytes], bool]) -> int:
        """Return the number of the smallest failing input among some further generated ones.

        Without a validator it is not known which changes leave an input valid.
        """
        least, found = len(generated), number
        for more in range(number + 1, number + 1 + min(self._plan.tries, _FURTHER)):
            data = self._generated(more, self._size(number))
            if len(data) < least and fails(data):
                least, found = len(data), more
        return found
