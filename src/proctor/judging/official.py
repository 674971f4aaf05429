"""Mode `official`: lcb_runner's verdicts, with the expected outputs out of the program's reach.

One process per program, all tests in it, as upstream; the comparison is the host's.
"""

from proctor.cell.wire import Kind
from proctor.execution import LimitHit
from proctor.judging import upstream
from proctor.judging.inputs import Inputs
from proctor.judging.judgement import Judgement, TestResult, UpstreamReport
from proctor.judging.per_problem import PerProblem
from proctor.judging.problem import Problem, Test
from proctor.judging.settings import JudgeSettings
from proctor.program import Program
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import UpstreamClock
from proctor.sandbox.serving import Serving, TestRun
from proctor.verdict import Verdict

_VERDICTS = {
    None: Verdict.AC,
    upstream.WRONG_ANSWER: Verdict.WA,
    upstream.LCB_RUNNER.time_limit: Verdict.TLE,
}
_OVERRUN = {LimitHit.MEMORY: Verdict.MLE, LimitHit.OUTPUT: Verdict.OLE}


def _parse_cases(problem: Problem) -> tuple[upstream.Case, ...] | str:
    """The tests as upstream holds them, or what it says of tests it cannot read."""
    if problem.function is None:
        return upstream.stdio_cases(problem.tests)
    try:
        return upstream.parse_calls(problem.tests)
    except upstream.UnreadableTests as error:
        return str(error)


_cases = PerProblem(_parse_cases)


def judge_official(
    cell: Cell, problem: Problem, program: Program, settings: JudgeSettings, inputs: Inputs
) -> Judgement:
    """Judge one program in one cell. Raises CellDied."""
    return _Official(cell, problem, program, settings, inputs).judge()


class _Official:
    def __init__(
        self,
        cell: Cell,
        problem: Problem,
        program: Program,
        settings: JudgeSettings,
        inputs: Inputs,
    ) -> None:
        self._cell, self._problem, self._program = cell, problem, program
        self._settings, self._inputs = settings, inputs
        self._clock = UpstreamClock(settings.limits.cpu)
        self._codes = upstream.PORTS if settings.codes == "ports" else upstream.LCB_RUNNER
        self._results: list[TestResult] = []

    def judge(self) -> Judgement:
        serving = Serving(
            self._cell, Kind.SERVE_OFFICIAL, self._program, self._problem.function or "",
            self._settings.limits, self._clock,
        )  # fmt: skip
        with serving:
            if not serving.alive:
                return self._not_loaded(serving)
            cases = _cases.of(self._problem)
            if isinstance(cases, str):
                report = upstream.load_failure(cases, self._codes)
                return self._judgement(report, Verdict.RE)
            return self._run_tests(serving, cases)

    def _not_loaded(self, serving: Serving) -> Judgement:
        if serving.unloadable is not None:
            return self._judgement(upstream.load_failure(serving.unloadable, self._codes))
        if serving.load_limit is LimitHit.CPU:
            return self._judgement(upstream.load_timeout(self._codes))
        return self._died(serving.load_limit)

    def _run_tests(self, serving: Serving, cases: tuple[upstream.Case, ...]) -> Judgement:
        spent = 0.0
        for number, (test, case) in enumerate(zip(self._problem.tests, cases, strict=True)):
            with self._inputs.open(test) as fd:
                run = serving.test(fd, self._clock)
            spent += run.wall
            failed = self._examine(number, run, test, case)
            if failed is not None:
                return failed
        return self._judgement(upstream.all_passed(len(cases), spent))

    def _examine(
        self, number: int, run: TestRun, test: Test, case: upstream.Case
    ) -> Judgement | None:
        """Note one test; return the judgement if it is the last word."""
        codes = self._codes
        if run.limit is LimitHit.CPU:
            return self._failed(run, upstream.time_limit(number, case, codes))
        if run.limit is not None:
            return self._failed_dead(run)
        if run.harness_failure is not None:
            return self._failed(run, upstream.load_failure(run.harness_failure, codes))
        if run.raised is not None:
            return self._failed(run, upstream.runtime_error(number, case, run.raised, codes))
        if run.exit_code is None:
            return self._failed_dead(run)
        if self._problem.function is None:
            comparison = upstream.judge_stdio(run.stdout, test.output)
        else:
            comparison = upstream.judge_call(run.stdout, case)
        if not comparison.passed:
            return self._failed(run, upstream.not_passed(number, case, comparison, codes))
        self._note(run, Verdict.AC, "")
        return None

    def _failed(self, run: TestRun, report: UpstreamReport) -> Judgement:
        verdict = _verdict(report, self._codes)
        self._note(run, verdict, report.error_message or "")
        return self._judgement(report, verdict)

    def _failed_dead(self, run: TestRun) -> Judgement:
        judgement = self._died(run.limit)
        self._note(run, judgement.verdict, judgement.message)
        return self._judgement(upstream.process_died(), judgement.verdict)

    def _note(self, run: TestRun, verdict: Verdict, message: str) -> None:
        self._results.append(TestResult(verdict, run.cpu, run.wall, run.memory, message))

    def _died(self, limit: LimitHit | None) -> Judgement:
        """The process ended without an answer: upstream's TestRunnerError."""
        verdict = _OVERRUN.get(limit, Verdict.RE) if limit is not None else Verdict.RE
        return self._judgement(upstream.process_died(), verdict)

    def _judgement(self, report: UpstreamReport, verdict: Verdict | None = None) -> Judgement:
        passed = sum(result.verdict.passed for result in self._results)
        return Judgement(
            verdict=verdict or _verdict(report, self._codes),
            score=passed / len(self._problem.tests),
            tests=tuple(self._results),
            message=report.error_message or "",
            isolation=self._cell.isolation,
            upstream=report,
        )


def _verdict(report: UpstreamReport, codes: upstream.Codes) -> Verdict:
    """Our name for upstream's error code; all that is neither wrong nor late is RE."""
    if codes is upstream.PORTS and report.error_code == codes.load:
        message = report.error_message or ""
        return Verdict.RE if message.startswith("Error during testing") else Verdict.WA
    return _VERDICTS.get(report.error_code, Verdict.RE)
