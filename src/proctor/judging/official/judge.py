"""Mode `official`: lcb_runner's verdicts, with the expected outputs out of the program's reach.

One process per program, all tests in it, as upstream; the comparison is the host's.
"""

from proctor.cell.wire import Kind
from proctor.execution import LimitHit
from proctor.judgement import Judgement, TestResult, UpstreamReport
from proctor.judging.answers import Answers
from proctor.judging.assignment import Assignment
from proctor.judging.official import upstream
from proctor.judging.per_problem import PerProblem
from proctor.judging.standard import disk_at_once
from proctor.problem import Problem, Test
from proctor.sandbox.cell import Serving, TestRun
from proctor.sandbox.clock import UpstreamClock
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


def judge_official(assignment: Assignment) -> Judgement:
    """Judge one program in one cell. Raises CellDied."""
    return _Official(assignment).judge()


class _Official:
    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._problem = assignment.problem
        settings = assignment.settings
        self._clock = UpstreamClock(settings.limits.cpu)
        self._codes = upstream.PORTS if settings.codes == "ports" else upstream.LCB_RUNNER
        self._answers = Answers(settings.stop, self._compare)
        self._failed: tuple[UpstreamReport, Verdict] | None = None
        """Upstream's report on the first test that failed, where upstream would have ended."""

    def judge(self) -> Judgement:
        disk = disk_at_once(self._assignment)
        with self._assignment.serve(Kind.SERVE_OFFICIAL, self._clock, disk) as serving:
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
        report = upstream.process_died()
        limit = serving.load_limit
        return self._judgement(report, _OVERRUN.get(limit) if limit is not None else None)

    def _run_tests(self, serving: Serving, cases: tuple[upstream.Case, ...]) -> Judgement:
        """Run the tests while the process lives; if it ends early, the program failed."""
        spent = 0.0
        for number, (test, case) in enumerate(zip(self._problem.tests, cases, strict=True)):
            run = self._assignment.run_test(serving, test, self._clock)
            spent += run.wall
            self._answers.take((number, run, test, case), len(run.stdout), crashed=_crashed(run))
            if self._answers.stopped or not serving.alive:
                break
        self._answers.compare()
        if self._failed is not None:
            return self._judgement(*self._failed)
        if len(self._answers) < len(cases):
            return self._judgement(upstream.process_died())
        return self._judgement(upstream.all_passed(len(cases), spent))

    def _compare(self, answer: tuple[int, TestRun, Test, upstream.Case]) -> TestResult:
        number, run, test, case = answer
        report = self._report(number, run, test, case)
        if report is None:
            return _result(run, test, Verdict.AC, "")
        verdict = _verdict(report, self._codes)
        if report.error_code == upstream.TEST_RUNNER_ERROR and run.limit is not None:
            verdict = _OVERRUN.get(run.limit, verdict)
        self._failed = self._failed or (report, verdict)
        return _result(run, test, verdict, report.error_message or "")

    def _report(
        self, number: int, run: TestRun, test: Test, case: upstream.Case
    ) -> UpstreamReport | None:
        """Return upstream's report of a test that did not pass; None for one that did."""
        codes = self._codes
        report = None
        if run.limit is LimitHit.CPU:
            report = upstream.time_limit(number, case, codes)
        elif run.limit is None and run.harness_failure is not None:
            report = upstream.load_failure(run.harness_failure, codes)
        elif run.limit is None and run.raised is not None:
            report = upstream.runtime_error(number, case, run.raised, codes)
        elif run.limit is not None or run.exit_code is None:
            report = upstream.process_died()
        else:
            if self._problem.function is None:
                comparison = upstream.judge_stdio(run.stdout, test.output_text())
            else:
                comparison = upstream.judge_call(run.stdout, case)
            if not comparison.passed:
                report = upstream.not_passed(number, case, comparison, codes)
        return report

    def _judgement(self, report: UpstreamReport, verdict: Verdict | None = None) -> Judgement:
        results = self._answers.results
        passed = sum(result.verdict.passed for result in results)
        return Judgement(
            verdict=verdict or _verdict(report, self._codes),
            score=passed / len(self._problem.tests),
            tests=tuple(results),
            message=report.error_message or "",
            isolation=self._assignment.cell.isolation,
            upstream=report,
        )


def _crashed(run: TestRun) -> bool:
    """Return True if there is nothing to compare: _report then gives another reason."""
    return run.limit is not None or run.exit_code is None or run.harness_failure is not None


def _result(run: TestRun, test: Test, verdict: Verdict, message: str) -> TestResult:
    return TestResult(verdict, run.cpu, run.wall, run.memory, message, test.name)


def _verdict(report: UpstreamReport, codes: upstream.Codes) -> Verdict:
    """Return the verdict for upstream's error code: RE for all that is neither wrong nor late."""
    if codes is upstream.PORTS and report.error_code == codes.load:
        message = report.error_message or ""
        return Verdict.RE if message.startswith("Error during testing") else Verdict.WA
    return _VERDICTS.get(report.error_code, Verdict.RE)
