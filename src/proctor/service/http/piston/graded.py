"""One test of open-r1's packages cms_ioi and codeforces, judged as a contest problem.

The files have the meaning that the packages give them (compile and run scripts of
guipenedo/piston). The answers have the form that open-r1's client reads: the score is the run's
stdout, feedback on it the run's stderr. Submission, checker, manager and answers are kept apart:
the submission's cell holds the submission, the files that it is compiled with, and its input.
"""

from proctor.errors import InfraFault, InputError
from proctor.evals.ioi import feedback
from proctor.grading import Comparison
from proctor.judgement import Judgement, TestResult
from proctor.judging.settings import JudgeSettings
from proctor.problem import Communication, Problem
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.piston import cms_ioi, codeforces
from proctor.service.http.piston.request import PistonJob
from proctor.service.http.piston.runtimes import RuntimeKind
from proctor.service.http.piston.schema import Stage
from proctor.verdict import Verdict

_UNCOMPILED = frozenset({Verdict.CE, Verdict.NC})


async def judged(
    engine: Engine, job: PistonJob, context: RequestContext
) -> tuple[Stage | None, Stage]:
    """Return the stages compile and run. Raises InputError for a broken task, InfraFault."""
    ioi = job.runtime.kind is RuntimeKind.CMS_IOI
    problem, program = (cms_ioi if ioi else codeforces).task(job)
    made = await engine.judge(problem, program, JudgeSettings(), context)
    judgement = made.judgement
    if judgement.verdict is Verdict.INFRA_FAULT and not judgement.tests:
        raise InfraFault(judgement.message)
    if not judgement.compiled:
        return _uncompiled(judgement, job)
    (test,) = judgement.tests
    if test.verdict is Verdict.INFRA_FAULT:
        raise InfraFault(test.message)
    if test.verdict.is_fault:
        raise InputError(f"the task is broken: {test.message} {test.log}".strip())
    return Stage(code=0), _run(test, problem, whole=not ioi)


def _uncompiled(judgement: Judgement, job: PistonJob) -> tuple[Stage | None, Stage]:
    if judgement.verdict not in _UNCOMPILED:
        raise InfraFault(judgement.message)
    said = judgement.compiler_output or judgement.message
    if (
        job.runtime.language_id == "python"
    ):  # the package does not compile Python: it fails when it starts
        text = f"{feedback.RUNTIME} 1\n{said}"
        return Stage(code=0), Stage("0", text, "0" + text, 0)
    failed = Stage("", said, said, 1, None, "Exited with error status 1", "RE")
    return failed, failed


def _run(test: TestResult, problem: Problem, *, whole: bool) -> Stage:
    """Return the stage run of a test; with `whole` the score is 1 or 0, as on Codeforces."""
    score = f"{float(test.verdict.passed) if whole else test.score:.17g}"
    # A manager has its own feedback.
    manager_speaks = isinstance(problem.running, Communication)
    compared = isinstance(problem.grading, Comparison) and not manager_speaks
    said = feedback.words(test, compared=compared)
    return Stage(
        score,
        said,
        score + said,
        0,
        cpu_time=round(test.cpu * 1000),
        wall_time=round(test.wall * 1000),
        memory=test.memory,
    )
