"""A file of programs judged against a file of LiveCodeBench problems, as `proctor judge` does."""

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, NoLanguage, SettingsError
from proctor.evals.durable import DurableRun, FinishedEntry, RunTally
from proctor.evals.rounds import host
from proctor.formats.livecodebench import load_problems, problem_ids
from proctor.formats.programs import SubmittedProgram, load_programs
from proctor.formats.results import Digests, ResultsFile, judgement_row, read_results
from proctor.formats.sidecar import Origin
from proctor.judgement import Judgement
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import cgroup
from proctor.sandbox.pool import open_pool
from proctor.verdict import Verdict
from proctor.version import __version__

Shown = Callable[[Iterable[Verdict]], None]


@dataclass(frozen=True, slots=True)
class ProgramsRun:
    """Programs and problems to be judged, and where the results go."""

    problems: Path
    programs: Path
    settings: JudgeSettings
    out: Path | None = None
    """Results file; a run that was killed goes on with it."""
    pool: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `open_pool`."""
    on: Callable[[], AbstractContextManager[Judges]] | None = None
    """Opens what judges instead of a pool on this machine: a cluster, a fleet of servers."""
    normalise_cpu: str | None = None
    """Speed of the machine whose CPU limits are to hold; None for each machine's own."""
    trust_rows: bool = False
    """Count the rows of a results file that another user, or machine, began."""

    def stored_settings(self, python: str) -> dict[str, Any]:
        """Return the settings that a results file shares with every run that goes on with it.

        `python` is the version that programs run under.
        """
        values = msgspec.to_builtins(self.settings)
        if not isinstance(values, dict):
            raise SettingsError("settings are not a mapping")
        limits, pool = values.pop("limits"), self.pool
        return {
            **values,
            "timeout": limits["cpu"],
            "memory": limits["memory"],
            "python": python,
            "proctor": __version__,
            "packages": list(pool.get("packages", ())),
            "preload": list(pool.get("preload", ())),
            **normalised(self.normalise_cpu),
        }

    def origin(self, tools: Mapping[str, str]) -> Origin:
        """Return the origin of the rows to come; `tools` are versions by language."""
        files = {"problems": [self.problems], "programs": [self.programs]}
        options = {name: self.pool.get(name) for name in ("isolation", "min_isolation", "python")}
        return Origin.of(files, host(), tools, options)


def normalised(named: str | None) -> dict[str, str]:
    """Return the setting `normalise_cpu`; nothing where CPU limits are not normalised."""
    return {} if named is None else {"normalise_cpu": named}


@dataclass(frozen=True, slots=True)
class ProgramsJudged:
    """Results of a run."""

    problems: Mapping[str, Problem]
    rows: list[Mapping[str, Any]]
    """Rows of all that is judged, by earlier runs too."""
    tally: RunTally


def judge_programs(
    wanted: ProgramsRun, begin: Callable[[int, int], Shown], stack: ExitStack
) -> ProgramsJudged:
    """Judge all programs that have no result yet.

    `begin` is called with the numbers of all programs and of those judged already; the function
    that it returns is called with verdicts. `stack` closes the results file and the cells.
    Raises InputError, SettingsError, PlatformError.
    """
    submissions, bad_row = _programs(wanted)
    problems = load_problems(wanted.problems, {entry.question_id for entry in submissions})
    tally = RunTally(refused=[] if bad_row is None else [bad_row])
    judges = stack.enter_context(wanted.on()) if wanted.on is not None else None
    settings = wanted.stored_settings(
        _python_here(wanted.pool) if judges is None else judges.version_of("python")
    )
    digests = Digests(settings)
    results = None
    if wanted.out is not None:
        origin = wanted.origin(versions({entry.language for entry in submissions}, judges))
        file = ResultsFile(wanted.out, settings, origin, trust_rows=wanted.trust_rows)
        results = stack.enter_context(file)

    def digest(entry: SubmittedProgram) -> str:
        return digest_of(digests, problems[entry.question_id], entry)

    def finish(
        entry: SubmittedProgram, future: Future[Judgement]
    ) -> FinishedEntry[SubmittedProgram]:
        try:
            judgement = future.result()
        except (InputError, NoLanguage) as error:
            return FinishedEntry(entry, Verdict.NC, error=error)
        row = judgement_row(entry, judgement, digest=digest(entry))
        return FinishedEntry(entry, judgement.verdict, row)

    todo = [each for each in submissions if not _is_judged(each, results, digest)]
    if judges is not None:  # in this order, a problem is packed once and goes to few machines
        todo = sorted(todo, key=lambda entry: entry.question_id)
    show = begin(len(submissions), len(submissions) - len(todo))
    try:
        if not todo:
            cgroup.sweep()  # removes what a killed run left behind; otherwise opening a pool does
        else:
            used = judges or _open_pool(wanted.pool, {entry.language for entry in todo}, stack)
            run = DurableRun(
                lambda entry: _started(problems, entry, wanted.settings, used), finish,
                lambda: used.at_once, results,
            )  # fmt: skip
            for batch in run.run(todo):
                tally.take(batch)
                show(each.verdict for each in batch if each.row is not None)
    except KeyboardInterrupt:
        tally.interrupted = True
    rows = tally.rows
    if wanted.out is not None:
        faults = (row for row in rows if row["verdict"] == Verdict.INFRA_FAULT)
        rows = [*read_results(wanted.out), *faults]
    return ProgramsJudged(problems, rows, tally)


def _is_judged(
    entry: SubmittedProgram,
    results: ResultsFile | None,
    digest: Callable[[SubmittedProgram], str],
) -> bool:
    return results is not None and results.is_finished(entry.row, digest(entry))


def _programs(wanted: ProgramsRun) -> tuple[list[SubmittedProgram], InputError | None]:
    """Return programs before the first bad row, and its error. Raises InputError without any."""
    known = problem_ids(wanted.problems)
    if not known:
        raise InputError("there is no problem in it", file=str(wanted.problems))
    submissions, bad_row = load_programs(wanted.programs, known)
    if not submissions:
        raise bad_row or InputError("there is no program in it", file=str(wanted.programs))
    return submissions, bad_row


def digest_of(digests: Digests, problem: Problem, entry: SubmittedProgram) -> str:
    """Return the digest of a program's row: of the parts on which its verdict depends."""
    content = entry.code if entry.language == "python" else f"{entry.language}\0{entry.code}"
    return digests.of(problem, content)


def versions(languages: Collection[str], judges: Judges | None) -> dict[str, str]:
    """Return the versions of these languages' tools, except Python's and missing ones."""
    find = judges.version_of if judges is not None else _version_here
    found = {}
    for language in sorted(set(languages) - {"python"}):
        with suppress(NoLanguage):
            found[language] = find(language)
    return found


def _version_here(language: str) -> str:
    return registry.find(registry.get(language)).version


def _python_here(pool: Mapping[str, Any]) -> str:
    choice = policy.choose(pool.get("isolation"), pool.get("min_isolation"), pool.get("python"))
    return choice.interpreter.version.partition(" ")[0]


def _open_pool(pool: Mapping[str, Any], languages: set[str], stack: ExitStack) -> PoolJudges:
    used = languages - {"python"}
    reads = registry.reads(map(registry.get, used)) if used else ()
    return PoolJudges(stack.enter_context(open_pool(**pool, directories=reads)))


def _started(
    problems: Mapping[str, Problem],
    entry: SubmittedProgram,
    settings: JudgeSettings,
    judges: Judges,
) -> Future[Judgement]:
    try:
        program = Program(entry.code, entry.language)
        return judges.start(problems[entry.question_id], program, settings)
    except InputError as error:
        refused: Future[Judgement] = Future()
        refused.set_exception(InputError(f"row {entry.row}: {error.message}", field=error.field))
        return refused
