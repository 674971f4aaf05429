"""Conversion of a package into another format, whole or not at all.

The result is read again and compared with the source. A difference that could change a verdict or
points is refused before anything is written: a trial without the tests' bytes is made elsewhere
and compared first, so that a format's reader alone decides what the format holds.
"""

import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path

from proctor.errors import InfraFault, InputError
from proctor.formats.contest_rows import holds_rows, load_contest_problem
from proctor.formats.conversion.draft import Draft
from proctor.formats.conversion.labels import renamed
from proctor.formats.conversion.left_out import files_left_out
from proctor.formats.conversion.same import Difference, same
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.model import Package, judgeable
from proctor.formats.packages.package import load
from proctor.limits import Limits
from proctor.shown import counted, shown

FORMATS = ("native", "icpc", "polygon", "cms", "rows")
"""Each has its writer, `to_NAME.write(package, draft)`."""
DROPPABLE = ("grading", "languages", "limits", "precision", "timing")
"""Fields of which a caller may take the target's own value instead."""


@dataclass(frozen=True, slots=True, repr=False)
class Converted:
    """A package in its new format."""

    package: Package
    notes: tuple[str, ...]
    """Parts that were left out or say less now; none of them changes a verdict or points."""

    def __repr__(self) -> str:
        return shown(self, repr(self.package)[1:-1], counted(len(self.notes), "note"))


def read_source(place: Path | str, name: str | None = None, tests: Iterable[Path] = ()) -> Package:
    """Package in a directory, or of the problem `name` where there are several, as in tables.

    Raises InputError.
    """
    place = Path(place)
    if not holds_rows(place):
        if list(tests):
            raise InputError("further tests are for tables of rows")
        return load(place, name)
    return Package(load_contest_problem(place, tests, name), (), "rows", place)


def convert_package(
    source: Package, destination: Path | str, to: str, *, drop: Collection[str] = ()
) -> Converted:
    """Write a package in another format as a new directory; return it as it is read again.

    `to` is one of FORMATS. `drop` are fields, such as `limits.output` or `limits`, of which the
    format's own value will do. Raises InputError, with a list of everything that the format cannot
    hold and that could change a verdict or points, and InfraFault if the result is not the same.
    """
    destination = Path(destination).resolve()  # it needs a name
    _check(destination, to, drop)
    if judgeable(source.problem).function is not None:
        raise InputError("functions to be called are in no package", field="function")
    source, notes = _used(source)
    draft = Draft()
    try:
        writer: Callable[[Package, Draft], None] = import_module(
            f"proctor.formats.conversion.to_{to}"
        ).write
        writer(source, draft)
    except InputError as error:
        raise error if error.file else _refusal(source, to, [str(error)]) from error
    found = [*_trial(source, draft, to, destination.name), *files_left_out(source, draft)]
    grave = [each for each in found if not each.lesser and not _dropped(each, drop)]
    if grave:
        raise _refusal(source, to, [_with_remedy(each) for each in grave])
    package = _write(source, draft, to, destination, drop)
    told = map(str, found)
    return Converted(package, (*source.notes, *notes, *package.notes, *told))


def _check(destination: Path, to: str, drop: Collection[str]) -> None:
    if to not in FORMATS:
        what = f"must be one of {', '.join(FORMATS)}, not {to!r}{did_you_mean(to, FORMATS)}"
        raise InputError(what, field="to")
    limits = {f"limits.{each.name}" for each in fields(Limits)}
    for name in drop:
        if name not in DROPPABLE and name not in limits:
            what = f"{name!r} cannot be dropped; {', '.join(DROPPABLE)} can"
            raise InputError(what, field="drop")
    try:
        if destination.is_file() or any(destination.iterdir()):
            raise InputError("is there already; name a new directory", file=str(destination))
    except FileNotFoundError:
        if not destination.parent.is_dir():
            what = "there is no such directory to write it into"
            raise InputError(what, file=str(destination.parent)) from None
    except OSError as error:
        raise InputError(f"cannot be used: {error.strerror}", file=str(destination)) from error


def _used(source: Package) -> tuple[Package, tuple[str, ...]]:
    """The package without tests that are in no subtask: they are never run."""
    problem = source.problem
    used = {name for each in problem.subtasks for name in each.tests}
    unused = [name for name in problem.tests_by_name() if name not in used]
    if not unused:
        return source, ()
    tests = tuple(test for name, test in problem.tests_by_name().items() if name in used)
    same_names = {name: name for name in used}
    submissions = tuple(
        replace(each, expected=renamed(each.expected, {}, same_names))
        for each in source.submissions
    )
    left = replace(source, problem=replace(problem, tests=tests), submissions=submissions)
    return left, (f"tests: in no subtask, so left out: {', '.join(unused[:5])}",)


def _refusal(source: Package, to: str, reasons: list[str]) -> InputError:
    listed = "".join(f"\n  {each}" for each in reasons)
    what = f"cannot be converted: this would be lost or changed as {to}:{listed}"
    return InputError(what, file=str(source.path))


def _with_remedy(each: Difference) -> str:
    return f"{each} (--drop {each.field} takes that)" if _dropped(each, DROPPABLE) else str(each)


def _dropped(each: Difference, drop: Collection[str]) -> bool:
    """Return True if `drop` allows the difference.

    `grading` allows another comparison, but no comparison in place of a program.
    """
    limit = each.field.startswith("limits.") and "limits" in drop
    return limit or each.field in drop


def _trial(source: Package, draft: Draft, to: str, name: str) -> list[Difference]:
    """Losses of the draft, as its writer reports and a comparison finds them, each field once."""
    with tempfile.TemporaryDirectory(prefix="proctor-convert-") as directory:
        root = Path(directory) / (name or "package")
        root.mkdir()
        try:
            draft.write(root, hollow=True)
            made = read_source(root)
        except InputError as error:
            if any(not each.lesser for each in draft.losses):
                return draft.losses  # these losses are why it cannot be read
            what = error.message.replace(f"{root}/", "")
            where = f"{error.field}: " if error.field else ""
            raise _refusal(source, to, [f"{where}{what}"]) from error
    told = {each.field.partition(".")[0] for each in draft.losses if not each.lesser}
    if told & {"grading", "running"}:  # their consequences are not losses of their own
        problem = source.problem
        tests = [replace(test, full=1.0) for test in problem.tests]
        source = replace(source, problem=replace(problem, tests=tuple(tests)))
        tests = [replace(test, full=1.0) for test in made.problem.tests]
        problem = replace(
            made.problem, grading=problem.grading, running=problem.running, tests=tuple(tests)
        )
        made = replace(made, problem=problem)
    told |= {each.field for each in draft.losses}
    if subtasks := {each.partition(".")[0] for each in told if each.startswith("subtasks")}:
        told |= {"tests", "subtasks", *subtasks}
    compared = same(source, made, contents=False)
    rest = (each for each in compared if each.field.partition(".")[0] not in told)
    return [*draft.losses, *rest]


def _write(
    source: Package, draft: Draft, to: str, destination: Path, drop: Collection[str]
) -> Package:
    """Write the draft beside its destination, compare, then move it; on failure leave nothing."""
    beside = destination.parent / f".{destination.name}.{secrets.token_hex(4)}"
    root = beside / destination.name  # some formats take the directory's name for the id
    try:
        root.mkdir(parents=True)
        draft.write(root)
        differences = same(source, read_source(root))
        known = [each.field for each in draft.losses]
        wrong = [
            str(each)
            for each in differences
            if not each.lesser and not _dropped(each, drop) and each.field not in known
        ]
        if wrong:
            raise InfraFault(f"what was written as {to} is not the same: {'; '.join(wrong)}")
        root.replace(destination)
    except OSError as error:
        raise InputError(f"cannot be written: {error}", file=str(destination)) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return read_source(destination)
