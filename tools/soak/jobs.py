"""One job: a program, run one way; what came of it, and whether that is right."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from random import Random

from programs import NOT_AC, Case

from proctor import Execution, InfraFault, Judgement, Pool, Program, Strength
from proctor.errors import PoolClosed
from proctor.judging import judge
from proctor.judging.comparison import compare_tokens
from proctor.judging.standard import OVERRUN
from proctor.languages import run
from proctor.text import as_bytes

INFRA = "INFRA_FAULT"
CLOSED = "PoolClosed"


@dataclass(frozen=True, slots=True)
class Job:
    """A case and the way it is run."""

    case: Case
    way: str

    @property
    def expected(self) -> str:
        return self.case.expected[self.way]

    def start(self, pool: Pool, done: Callable[["Job", Future[str]], None]) -> None:
        """Queue it; `done` is called with what came of it, in whatever thread."""
        outcome: Future[str] = Future()
        outcome.add_done_callback(lambda future: done(self, future))

        def finished(future: Future[Execution] | Future[Judgement]) -> None:
            try:
                outcome.set_result(self._told(future))
            except BaseException as error:  # noqa: BLE001 - the soak shall count it
                outcome.set_exception(error)

        case = self.case
        if self.way == "run":
            stdin = as_bytes(case.problem.tests[0].input, "stdin")
            request = run.RunRequest(Program(case.source), stdin, limits=case.limits)
            run.start(request, pool).add_done_callback(finished)
        else:
            settings = case.settings(self.way)
            judge.start(case.problem, case.source, settings, pool).add_done_callback(finished)

    def _told(self, future: Future[Execution] | Future[Judgement]) -> str:
        """Return a verdict, with the reason where it is a fault. Raises what no caller expects."""
        try:
            result = future.result()
        except PoolClosed:
            return CLOSED
        except InfraFault as error:
            return f"{INFRA}: {type(error).__name__}: {error}"
        if isinstance(result, Execution):
            return _verdict(result, self.case.problem.tests[0].output)
        if result.verdict.is_fault:
            return f"{result.verdict}: {result.message}"
        return str(result.verdict)

    def is_right(self, told: str, memory: Strength) -> bool:
        """Whether this is the verdict; `memory` says how memory is bounded here."""
        if self.expected == NOT_AC:
            return told not in ("AC", CLOSED) and "FAULT" not in told
        if self.expected == "MLE" and memory is not Strength.FULL:
            return told in ("MLE", "RE")  # all that can be noticed is a refused allocation
        return told == self.expected


def _verdict(done: Execution, expected: str) -> str:
    """What a judge would say of a run of one test."""
    if done.limit is not None:
        return str(OVERRUN[done.limit][0])
    if done.exit_code != 0:
        return "RE"
    return "AC" if compare_tokens(done.stdout, expected.encode(), None) is None else "WA"


def choose(cases: list[Case], rng: Random) -> Job:
    """Draw the next job."""
    case = rng.choices(cases, [case.weight for case in cases])[0]
    return Job(case, rng.choice(list(case.expected)))
