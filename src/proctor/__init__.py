"""Run and judge programs that machines wrote. The public names, and nothing else."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.errors import InfraFault as InfraFault
    from proctor.errors import InputError as InputError
    from proctor.errors import NoIsolation as NoIsolation
    from proctor.errors import PlatformError as PlatformError
    from proctor.errors import ProctorError as ProctorError
    from proctor.errors import UsageError as UsageError
    from proctor.execution import Execution as Execution
    from proctor.execution import Isolation as Isolation
    from proctor.execution import LimitHit as LimitHit
    from proctor.judging.formats.livecodebench import load_problems as load_problems
    from proctor.judging.judge import Judged as Judged
    from proctor.judging.judge import judge as judge
    from proctor.judging.judge import judge_async as judge_async
    from proctor.judging.judge import judge_many as judge_many
    from proctor.judging.judge import judge_many_async as judge_many_async
    from proctor.judging.judgement import Judgement as Judgement
    from proctor.judging.judgement import TestResult as TestResult
    from proctor.judging.problem import Problem as Problem
    from proctor.judging.problem import Test as Test
    from proctor.judging.settings import JudgeSettings as JudgeSettings
    from proctor.limits import Limits as Limits
    from proctor.program import Program as Program
    from proctor.report.statistics import pass_at_k as pass_at_k
    from proctor.sandbox.pool import Pool as Pool
    from proctor.sandbox.run import open_pool as open_pool
    from proctor.sandbox.run import run as run
    from proctor.sandbox.run import run_async as run_async
    from proctor.verdict import Verdict as Verdict

__version__ = "0.1.0"

# Loaded on first use: `proctor --help` and `import proctor` stay fast, on any platform.
_HOMES = {
    "InfraFault": "errors",
    "InputError": "errors",
    "NoIsolation": "errors",
    "PlatformError": "errors",
    "ProctorError": "errors",
    "UsageError": "errors",
    "Execution": "execution",
    "Isolation": "execution",
    "LimitHit": "execution",
    "load_problems": "judging.formats.livecodebench",
    "Judged": "judging.judge",
    "judge": "judging.judge",
    "judge_async": "judging.judge",
    "judge_many": "judging.judge",
    "judge_many_async": "judging.judge",
    "Judgement": "judging.judgement",
    "TestResult": "judging.judgement",
    "Problem": "judging.problem",
    "Test": "judging.problem",
    "JudgeSettings": "judging.settings",
    "Limits": "limits",
    "Program": "program",
    "pass_at_k": "report.statistics",
    "Pool": "sandbox.pool",
    "open_pool": "sandbox.run",
    "run": "sandbox.run",
    "run_async": "sandbox.run",
    "Verdict": "verdict",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"proctor.{_HOMES[name]}"), name)
    return value
