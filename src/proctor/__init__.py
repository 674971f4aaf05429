"""Run and judge programs that machines wrote. The public names, and nothing else."""

import sys as _sys
import typing as _typing

from proctor.version import __version__ as __version__

if _typing.TYPE_CHECKING:
    from importlib.machinery import ModuleSpec as _ModuleSpec

    from proctor.errors import (
        InfraFault,
        InputError,
        NoIsolation,
        PlatformError,
        ProctorError,
        SessionEnded,
        UsageError,
    )
    from proctor.evals.adapter import BenchmarkAdapter, run_benchmark
    from proctor.evals.adapter import InstanceOutcome as Outcome
    from proctor.evals.agent import AgenticAdapter, Budgets
    from proctor.evals.journal import Journal, Solved
    from proctor.evals.models.model import Message
    from proctor.evals.opened import EvalRun, open_run
    from proctor.execution import Execution, Guarantee, Isolation, LimitHit, Strength
    from proctor.formats.conversion.convert import convert_package
    from proctor.formats.livecodebench import load_problems
    from proctor.formats.packages.package import load as load_package
    from proctor.judgement import Judgement, TestResult
    from proctor.judging.judge import Judged, judge, judge_async, judge_many, judge_many_async
    from proctor.judging.settings import JudgeSettings
    from proctor.languages.pools import open_pool
    from proctor.languages.run import run, run_async
    from proctor.limits import Limits
    from proctor.problem import Problem, Test
    from proctor.program import Program
    from proctor.reports.pass_at_k import pass_at_k
    from proctor.sandbox.background import Background
    from proctor.sandbox.pool import Pool
    from proctor.sandbox.session import Session, open_session
    from proctor.solver.envelope import Envelope as SolveEnvelope
    from proctor.solver.envelope import Incumbent
    from proctor.solver.host import SolverHost
    from proctor.solver.solve import solve, solve_async, solve_stream
    from proctor.solver.solve_instances import solve_instances
    from proctor.verdict import Verdict

__all__ = [
    "AgenticAdapter",
    "Background",
    "BenchmarkAdapter",
    "Budgets",
    "EvalRun",
    "Execution",
    "Guarantee",
    "Incumbent",
    "InfraFault",
    "InputError",
    "Isolation",
    "Journal",
    "JudgeSettings",
    "Judged",
    "Judgement",
    "LimitHit",
    "Limits",
    "Message",
    "NoIsolation",
    "Outcome",
    "PlatformError",
    "Pool",
    "Problem",
    "ProctorError",
    "Program",
    "Session",
    "SessionEnded",
    "SolveEnvelope",
    "Solved",
    "SolverHost",
    "Strength",
    "Test",
    "TestResult",
    "UsageError",
    "Verdict",
    "convert_package",
    "judge",
    "judge_async",
    "judge_many",
    "judge_many_async",
    "load_package",
    "load_problems",
    "open_pool",
    "open_run",
    "open_session",
    "pass_at_k",
    "run",
    "run_async",
    "run_benchmark",
    "solve",
    "solve_async",
    "solve_instances",
    "solve_stream",
]
"""Names that are promised; see docs/reference/compatibility.md."""

# Loaded on first use: `proctor --help` and `import proctor` stay fast, on any platform.
_HOMES = {
    "BenchmarkAdapter": "evals.adapter",
    "Outcome": "evals.adapter:InstanceOutcome",
    "run_benchmark": "evals.adapter",
    "AgenticAdapter": "evals.agent",
    "Budgets": "evals.agent",
    "Journal": "evals.journal",
    "Solved": "evals.journal",
    "EvalRun": "evals.opened",
    "open_run": "evals.opened",
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


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if not _typing.TYPE_CHECKING:  # a type checker should report names that do not exist

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module 'proctor' has no attribute {name!r}")
        from importlib import import_module

        home, _, there = _HOMES[name].partition(":")  # its name there, if that differs
        value = globals()[name] = getattr(import_module(f"proctor.{home}"), there or name)
        return value


class _OldPaths:
    """Finder of modules by their old import paths, at the end, where it costs nothing."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> "_ModuleSpec | None":
        if not name.startswith("proctor."):
            return None
        from proctor.moved import spec_of

        return spec_of(name)


_sys.meta_path.append(_OldPaths)
