"""Rows of results of `proctor judge` and `proctor ioi score` as recorded judgements."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.evals.ioi.results import row_digest, task_digest
from proctor.evals.ioi.scoring import CellGrade, IoiScoring
from proctor.evals.ioi.sources import Sources
from proctor.evals.ioi.submissions import IoiSubmission
from proctor.evals.programs import digest_of
from proctor.evals.replaying.questions import asked_by
from proctor.evals.replaying.recorded import InputFiles, RecordedJudgement, Surroundings, level_of
from proctor.evals.replaying.rows import judgement_of_points, judgement_of_row
from proctor.formats.ioi_rows import IoiTask, load_tasks
from proctor.formats.livecodebench import load_problems, problem_ids
from proctor.formats.programs import SubmittedProgram, read_programs
from proctor.formats.results import Digests, read_results
from proctor.formats.sidecar import InputFile, Origin, Sidecar
from proctor.formats.tables import Row
from proctor.judgement import Judgement
from proctor.judging.settings import JudgeSettings, default_limits
from proctor.limits import check_limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.shown import counted
from proctor.version import __version__

_SHOWN = 3
"""Most rows that an error lists if no row was named, or an unknown one."""


@dataclass(frozen=True, slots=True)
class _FoundRow:
    """A row of a results file, and what its sidecar says."""

    path: Path
    name: str
    row: Mapping[str, Any]
    sidecar: Sidecar
    origin: Origin

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the results, as anybody may have written them."""
        return self.sidecar.settings

    def files(self, what: str, named: str | None) -> list[Path]:
        """Return the input files of a kind.

        Raises InputError if they are not known, or gone, or were named by somebody else.
        """
        if named is not None:
            return [Path(named)]
        known = [Path(each.path) for each in self.origin.files.get(what, ())]
        option = "--tasks" if what == "tests" else f"--{what}"
        if not known:
            raise InputError(f"does not tell its {what}; name them by {option}", file=self.name)
        if not self.origin.is_own:
            shown = " ".join(f"{option} {each}" for each in known)
            raise InputError(
                f"is not as you wrote it on this machine, so its {what} are not opened unless you"
                f" give them by name: {shown}", file=self.name,
            )  # fmt: skip
        for each in known:
            if not each.is_file():
                raise InputError(f"is gone; name the {what} by {option}", file=str(each))
        return known

    def pool(self, given: InputFiles) -> dict[str, tuple[str, ...]]:
        """Return packages and modules of the cells.

        Raises InputError if somebody else named them, and they are not given by name.
        """
        found = {name: tuple(self.settings.get(name, ())) for name in ("packages", "preload")}
        for name, value in found.items():
            if name not in given.named and not self.sidecar.is_own(name):
                shown = " ".join(f"--{name} {each}" for each in value)
                raise InputError(
                    f"is not as you wrote it on this machine, so its {name} are not used unless you"
                    f" give them by name: {shown}", file=self.name,
                )  # fmt: skip
        return found | {name: tuple(given.named[name]) for name in found if name in given.named}

    def changes(self, files: Mapping[str, list[Path]]) -> str:
        """Say which of these files are no longer as they were; empty if that is not known."""
        known = {each.path: each for kind in self.origin.files.values() for each in kind}
        told = []
        for each in (path for paths in files.values() for path in paths):
            then, now = known.get(str(each.resolve())), InputFile.of(each)
            if then is not None and then.sha256 != now.sha256:
                told.append(f"{each} has changed since: its SHA-256 was {then.sha256[:16]}..., "
                            f"is {now.sha256[:16]}...")  # fmt: skip
        if not told and (by := self.settings.get("proctor")) != __version__:
            told.append(f"or proctor {by}, which wrote it, takes digests otherwise")
        return "".join(f"; {each}" for each in told)

    def check_digest(self, digest: str, files: Mapping[str, list[Path]]) -> None:
        """Raise InputError if the row was judged from another program or other tests."""
        if self.row["digest"] != digest:
            held = " and ".join(", ".join(map(str, paths)) for paths in files.values())
            raise InputError(
                f"was judged from another program, or against other tests, than {held} hold now"
                f"{self.changes(files)}", file=self.name,
            )  # fmt: skip

    def outcome(self, read: Callable[[Mapping[str, Any]], Judgement]) -> Judgement:
        """Return the recorded outcome. Raises InputError that names the row."""
        try:
            return read(self.row)
        except InputError as error:
            raise InputError(error.message, file=self.name, field=error.field) from error

    def then(self, outcome: Judgement, language: str) -> Surroundings:
        """Return the recorded versions and machine of the judgement, as far as they are known."""
        host, machine = self.origin.host, outcome.machine
        if machine is not None:
            host = {"cpu": machine.cpu}
        python = self.settings.get("python") or host.get("python", "")
        if (path := self.origin.options.get("python")) is not None:
            python = f"{python}, {path}"
        return Surroundings(
            str(self.settings.get("proctor", "")), str(python),
            self.origin.tools.get(language, ""), host.get("system", ""), host.get("cpu", ""),
            "" if machine is None else machine.id, level_of(outcome),
        )  # fmt: skip


def of_results(path: Path, wanted: str, given: InputFiles) -> RecordedJudgement:
    """Find a row: ROW, or in results of `proctor judge` QUESTION_ID:INDEX as well.

    Raises InputError for a row that is not there, or whose problem or program cannot be found as
    they were; SettingsError.
    """
    position, row = _find(path, wanted)
    sidecar = Sidecar.of(path)
    name = f"{path}#{row['row']}"
    found = _FoundRow(path, name, row, sidecar, sidecar.origin(position))
    return (_of_ioi if "runner" in sidecar.settings else _of_judge)(found, given)


def _find(path: Path, wanted: str) -> tuple[int, Mapping[str, Any]]:
    told: list[str] = []
    for position, row in enumerate(read_results(path)):
        if wanted in _names(row):
            return position, row
        told.append(f"{row['row']} ({row.get('verdict')})")
    some = ", ".join([*told[:_SHOWN], *(["..."] if len(told) > _SHOWN else [])]) or "none"
    what = f"has no row {wanted!r}" if wanted else "name a row of it, as FILE#ROW"
    raise InputError(f"{what}; of {counted(len(told), 'row')}: {some}", file=str(path))


def _names(row: Mapping[str, Any]) -> Iterator[str]:
    yield str(row["row"])
    yield f"{row.get('question_id')}:{row.get('index')}"


def _of_judge(found: _FoundRow, given: InputFiles) -> RecordedJudgement:
    given.check("results of `proctor judge`", "problems", "programs")
    (problems,), (programs,) = (
        found.files("problems", given.problems), found.files("programs", given.programs),
    )  # fmt: skip
    entry, problem = _submitted(found, problems, programs)
    files = {"programs": [programs], "problems": [problems]}
    found.check_digest(digest_of(Digests(found.settings), problem, entry), files)
    outcome = found.outcome(judgement_of_row)
    settings = _settings(found)
    if not found.origin.is_own:
        check_limits(settings.limits)
    return RecordedJudgement(
        found.name, problem, Program(entry.code, entry.language), settings, outcome,
        then=found.then(outcome, entry.language), pool=found.pool(given),
    )  # fmt: skip


def _submitted(
    found: _FoundRow, problems: Path, programs: Path
) -> tuple[SubmittedProgram, Problem]:
    """Return the program of a row, and its problem. Raises InputError if they are not there."""
    number = found.row["row"]
    entries = read_programs(programs, problem_ids(problems))
    entry = next((each for each in entries if each.row == number), None)
    if entry is None:
        changed = found.changes({"programs": [programs]})
        raise InputError(f"has no program {number}{changed}", file=str(programs))
    return entry, load_problems(problems, {entry.question_id})[entry.question_id]


def _settings(found: _FoundRow) -> JudgeSettings:
    values = found.settings
    try:
        mode = values["mode"]
        limits = replace(default_limits(mode), cpu=values["timeout"], memory=values["memory"])
        return JudgeSettings(
            mode, limits, values["stop"], values["fast"], values["tolerance"], values["codes"]
        )
    except LookupError as error:
        raise InputError(
            f"was written by proctor {values.get('proctor')}: its settings lack {error}",
            file=str(found.path),
        ) from error


def _of_ioi(found: _FoundRow, given: InputFiles) -> RecordedJudgement:
    given.check("results of `proctor ioi score`", "tasks")
    if (runner := found.settings["runner"]) is not None:
        raise InputError(f"was judged by {runner}, not by proctor's own cells", file=found.name)
    entry = _ioi_submission(found)
    if given.tasks:
        tables = Sources().task_files(given.tasks, lambda _: {entry.year})
    else:
        own = found.origin.files.get("tests") == ()  # the tasks may hold their tests themselves
        tables = found.files("tasks", None), [] if own else found.files("tests", None)
    task = load_tasks(*tables, only={entry.task})[entry.task]
    digest = row_digest(task_digest(task), entry, found.settings)
    found.check_digest(digest, {name: each for name, each in zip(("tasks", "tests"), tables,
                                                                 strict=True) if each})  # fmt: skip
    outcome = found.outcome(judgement_of_points)
    return replace(
        _asked_of_ioi(found, entry, task, outcome), then=found.then(outcome, entry.language)
    )


def _ioi_submission(found: _FoundRow) -> IoiSubmission:
    row = found.row
    try:
        return IoiSubmission(
            str(row["uuid"]), int(row["solution_number"]), int(row["year"]),
            str(row["problem_id"]), row["code"], str(row["language"]), row["target_subtask"],
            Row(found.path, 0, row),
        )  # fmt: skip
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"is not a row of `proctor ioi score`: {error!r}", file=found.name
        ) from error


def _asked_of_ioi(
    found: _FoundRow, entry: IoiSubmission, task: IoiTask, outcome: Judgement
) -> RecordedJudgement:
    only_target = found.settings.get("subtasks") == "target"
    repair = bool(found.settings.get("repair_includes"))
    asked = asked_by(
        lambda judges: IoiScoring(
            {entry.task: task}, CellGrade(judges), repair_includes=repair, only_target=only_target
        ).judge(entry)
    )
    if asked is None:  # there is no code
        target = (entry.target,) if only_target and entry.target else None
        program, settings = Program("", entry.language), JudgeSettings(stop="first")
        return RecordedJudgement(found.name, task.problem, program, settings, outcome, target)
    return RecordedJudgement(
        found.name, asked.problem, asked.program, asked.settings, outcome, asked.subtasks
    )
