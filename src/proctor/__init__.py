"""Run and judge programs that machines wrote. The public names, and nothing else."""

import sys
from typing import TYPE_CHECKING, Any

from proctor.version import __version__ as __version__

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from proctor.errors import InfraFault as InfraFault
    from proctor.errors import InputError as InputError
    from proctor.errors import NoIsolation as NoIsolation
    from proctor.errors import PlatformError as PlatformError
    from proctor.errors import ProctorError as ProctorError
    from proctor.errors import SessionEnded as SessionEnded
    from proctor.errors import UsageError as UsageError
    from proctor.evals.adapter import BenchmarkAdapter as BenchmarkAdapter
    from proctor.evals.adapter import InstanceOutcome as Outcome  # noqa: F401 (renamed)
    from proctor.evals.adapter import run_benchmark as run_benchmark
    from proctor.evals.agent import AgenticAdapter as AgenticAdapter
    from proctor.evals.agent import Budgets as Budgets
    from proctor.evals.journal import Journal as Journal
    from proctor.evals.journal import Solved as Solved
    from proctor.evals.models.model import Message as Message
    from proctor.execution import Execution as Execution
    from proctor.execution import Guarantee as Guarantee
    from proctor.execution import Isolation as Isolation
    from proctor.execution import LimitHit as LimitHit
    from proctor.execution import Strength as Strength
    from proctor.formats.conversion.convert import convert_package as convert_package
    from proctor.formats.livecodebench import load_problems as load_problems
    from proctor.formats.packages.package import load as load_package  # noqa: F401 (renamed)
    from proctor.judgement import Judgement as Judgement
    from proctor.judgement import TestResult as TestResult
    from proctor.judging.judge import Judged as Judged
    from proctor.judging.judge import judge as judge
    from proctor.judging.judge import judge_async as judge_async
    from proctor.judging.judge import judge_many as judge_many
    from proctor.judging.judge import judge_many_async as judge_many_async
    from proctor.judging.settings import JudgeSettings as JudgeSettings
    from proctor.languages.pools import open_pool as open_pool
    from proctor.languages.run import run as run
    from proctor.languages.run import run_async as run_async
    from proctor.limits import Limits as Limits
    from proctor.problem import Problem as Problem
    from proctor.problem import Test as Test
    from proctor.program import Program as Program
    from proctor.reports.pass_at_k import pass_at_k as pass_at_k
    from proctor.sandbox.background import Background as Background
    from proctor.sandbox.pool import Pool as Pool
    from proctor.sandbox.session import Session as Session
    from proctor.sandbox.session import open_session as open_session
    from proctor.solver.envelope import Envelope as SolveEnvelope  # noqa: F401 (renamed)
    from proctor.solver.envelope import Incumbent as Incumbent
    from proctor.solver.host import SolverHost as SolverHost
    from proctor.solver.solve import solve as solve
    from proctor.solver.solve import solve_async as solve_async
    from proctor.solver.solve import solve_stream as solve_stream
    from proctor.solver.solve_instances import solve_instances as solve_instances
    from proctor.verdict import Verdict as Verdict


# Loaded on first use: `proctor --help` and `import proctor` stay fast, on any platform.
_HOMES = {
    "BenchmarkAdapter": "evals.adapter",
    "Outcome": "evals.adapter:InstanceOutcome",
    "run_benchmark": "evals.adapter",
    "AgenticAdapter": "evals.agent",
    "Budgets": "evals.agent",
    "Journal": "evals.journal",
    "Solved": "evals.journal",
    "Message": "evals.models.model",
    "InfraFault": "errors",
    "InputError": "errors",
    "NoIsolation": "errors",
    "PlatformError": "errors",
    "ProctorError": "errors",
    "SessionEnded": "errors",
    "UsageError": "errors",
    "Execution": "execution",
    "Guarantee": "execution",
    "Isolation": "execution",
    "LimitHit": "execution",
    "Strength": "execution",
    "convert_package": "formats.conversion.convert",
    "load_problems": "formats.livecodebench",
    "load_package": "formats.packages.package:load",
    "Judged": "judging.judge",
    "judge": "judging.judge",
    "judge_async": "judging.judge",
    "judge_many": "judging.judge",
    "judge_many_async": "judging.judge",
    "Judgement": "judgement",
    "TestResult": "judgement",
    "Problem": "problem",
    "Test": "problem",
    "JudgeSettings": "judging.settings",
    "Limits": "limits",
    "Program": "program",
    "pass_at_k": "reports.pass_at_k",
    "Pool": "sandbox.pool",
    "open_pool": "languages.pools",
    "run": "languages.run",
    "run_async": "languages.run",
    "Background": "sandbox.background",
    "Session": "sandbox.session",
    "open_session": "sandbox.session",
    "SolveEnvelope": "solver.envelope:Envelope",
    "Incumbent": "solver.envelope",
    "SolverHost": "solver.host",
    "solve": "solver.solve",
    "solve_async": "solver.solve",
    "solve_stream": "solver.solve",
    "solve_instances": "solver.solve_instances",
    "Verdict": "verdict",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    from importlib import import_module

    home, _, there = _HOMES[name].partition(":")  # what it is called there, if otherwise
    value = globals()[name] = getattr(import_module(f"proctor.{home}"), there or name)
    return value


class _OldPaths:
    """Finder of modules by their old import paths, at the end, where it costs nothing."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> "ModuleSpec | None":
        if not name.startswith("proctor."):
            return None
        from proctor.moved import spec_of

        return spec_of(name)


sys.meta_path.append(_OldPaths)
