"""Test data of an ICPC/Kattis package: groups of tests, each with its settings."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.packages.documents import convert, read_yaml, without_empty
from proctor.formats.packages.files import Tree, join
from proctor.formats.packages.icpc_constants import Constants
from proctor.problem import Test

SAMPLE, SECRET = "sample", "secret"


class Scoring(msgspec.Struct, forbid_unknown_fields=True):
    """`scoring` of the newer formats."""

    score: int | float | str | None = None
    aggregation: str | None = None
    require_pass: str | list[str] = []


class _Legacy(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    on_reject: str = "break"
    grading: str = "default"
    grader_flags: str = ""
    input_validator_flags: Any = ""
    output_validator_flags: str | dict[str, str] | None = ""
    accept_score: float = 1.0
    reject_score: float = 0.0
    range: str | list[float] = "-inf +inf"


class _Args(msgspec.Struct, forbid_unknown_fields=True):
    """Fields of a test, or of a group for its tests, in the newer formats."""

    args: list[str] = []
    output_validator_args: list[str] = []
    output_validator_flags: str | list[str] = []
    input_validator_args: Any = None
    input_validator_flags: Any = None
    # Visualizers are not run.
    input_visualizer_args: Any = None
    output_visualizer_args: Any = None
    static_validation: Any = False
    static_validator_args: Any = None
    full_feedback: bool | None = None
    hint: str = ""
    description: str = ""


class _GroupFile(_Args, forbid_unknown_fields=True):
    max_score: int | float | str | None = None
    score_aggregation: str | None = None
    require_pass: str | list[str] = []
    static_validation_score: Any = None
    # Keys of drafts of the format.
    scoring: Scoring | None = None
    grading: Scoring | None = None


_OF_GROUP = {field.name for field in msgspec.structs.fields(_GroupFile)} - {
    field.name for field in msgspec.structs.fields(_Args)
}
"""Keys that groups do not inherit."""


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Settings of a group and its tests."""

    flags: tuple[str, ...] = ()
    """Flags of the output validator."""
    args: tuple[str, ...] = ()
    """Arguments of the submission."""
    grader_flags: tuple[str, ...] = ()
    """Legacy: flags of the grader."""
    accept_score: float = 1.0
    reject_score: float = 0.0
    breaks: bool = True
    """Legacy: `on_reject: break`."""
    custom: bool = False
    """Legacy: True if the package's own grader grades the group."""
    best: float = math.inf
    """Legacy: upper end of `range`."""
    scoring: Scoring = field(default_factory=Scoring)
    """Newer formats; never inherited."""
    file: str = ""
    """File that states these settings."""
    stated: frozenset[str] = frozenset()
    """Legacy: keys of the group's own file; other settings are those of the group around it."""


@dataclass(frozen=True, slots=True)
class TestGroup:
    """A directory of tests and groups, in the order of their names."""

    name: str
    """Path below `data/`; empty for `data/` itself."""
    settings: GroupSettings
    members: tuple["Test | TestGroup", ...]

    @property
    def groups(self) -> tuple["TestGroup", ...]:
        """The groups directly in it."""
        return tuple(member for member in self.members if isinstance(member, TestGroup))

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests directly in it."""
        return tuple(member for member in self.members if isinstance(member, Test))

    def walk(self) -> Iterator["TestGroup"]:
        """This group, and every group below it."""
        yield self
        for group in self.groups:
            yield from group.walk()

    def every(self) -> tuple[Test, ...]:
        """Its tests and those of every group below, in order."""
        found: list[Test] = []
        for member in self.members:
            found += [member] if isinstance(member, Test) else member.every()
        return tuple(found)


_Read = Callable[[Tree, str, dict[str, Any]], GroupSettings]
"""Reads a group's settings; the mapping holds those of the group around it, and gets its own."""


def load_data(tree: Tree, constants: Constants, *, legacy: bool) -> TestGroup:
    """`data/`, as a group of `sample` and `secret`. Raises InputError."""
    read: _Read = partial(_legacy if legacy else _newer, constants)
    raw: dict[str, Any] = {}
    settings = read(tree, "", raw)
    members = [
        _group(tree, name, raw, read, legacy=legacy)
        for name in (SAMPLE, SECRET)
        if tree.is_dir(join("data", name))
    ]
    secret = next((group for group in members if group.name == SECRET), None)
    if secret is None:
        members.append(TestGroup(SECRET, settings, ()))
    root = TestGroup("", settings, tuple(members))
    if not root.every():
        raise InputError("there is no test (NAME.in)", file=tree.shown("data/secret"))
    if secret is None or not secret.every():
        tree.notes("data: there is no secret test; the samples are all that is judged")
    return root


def _group(
    tree: Tree, name: str, inherited: Mapping[str, Any], read: _Read, *, legacy: bool
) -> TestGroup:
    raw = dict(inherited)
    settings = read(tree, name, raw)
    directory = join("data", name)
    found: dict[str, Test | TestGroup] = {}
    entries = tree.entries(directory)
    for entry in entries:
        path = join(directory, entry)
        base = entry.removesuffix(".in")
        if tree.is_dir(path):
            if entry.endswith(".files"):
                _check_files(tree, path, legacy=legacy)
                continue
            inner = join(name, entry)
            member: Test | TestGroup = _group(tree, inner, raw, read, legacy=legacy)
        elif entry.endswith(".in"):
            member = _test(tree, join(name, base), settings, raw, legacy=legacy)
        else:
            if entry.endswith(".ans") and entry[:-4] + ".in" not in entries:
                raise InputError("an answer without its input (.in)", file=tree.shown(path))
            continue
        if base in found:
            raise InputError("a test and a group of one name", file=tree.shown(path))
        found[base] = member
    return TestGroup(name, settings, tuple(found[base] for base in sorted(found)))


def _check_files(tree: Tree, path: str, *, legacy: bool) -> None:
    """Check that a test's files have an input; legacy tests have no files. Raises InputError."""
    if legacy:
        what = "files beside the input are of the newer formats, with test_group.yaml"
        raise InputError(what, file=tree.shown(path))
    if not tree.is_file(path.removesuffix(".files") + ".in"):
        raise InputError("files without their input (.in)", file=tree.shown(path))


def _test(
    tree: Tree, name: str, settings: GroupSettings, raw: Mapping[str, Any], *, legacy: bool
) -> Test:
    path = join("data", name)
    if not tree.is_file(path + ".ans"):
        raise InputError(
            f"there is no answer to {path}.in; an empty one will do where none is needed",
            file=tree.shown(path + ".ans"),
        )
    if not legacy and tree.is_file(path + ".yaml"):
        own = {**_inheritable(raw), **without_empty(read_yaml(tree, path + ".yaml"))}
        settings = _from_args(convert(tree, path + ".yaml", own, _Args), path + ".yaml")
    return Test(
        tree.file(path + ".in"),
        tree.file(path + ".ans"),
        name.startswith(SAMPLE + "/"),
        name,
        flags=settings.flags,
        args=settings.args,
        files={
            each.removeprefix(f"{path}.files/"): tree.file(each)
            for each in tree.walk(f"{path}.files")
        },
    )


def _legacy(constants: Constants, tree: Tree, group: str, raw: dict[str, Any]) -> GroupSettings:
    """Settings of a group. `raw` holds those of the group around it; the group's own are added."""
    name = join("data", group, "testdata.yaml")
    own: dict[str, Any] = {}
    if tree.is_file(name):
        own = without_empty(read_yaml(tree, name, constants.text))
        raw.update(own)
    data = convert(tree, name, raw, _Legacy, strict=False)
    if data.grading not in {"default", "custom"}:
        raise InputError("must be default or custom", file=tree.shown(name), field="grading")
    if data.on_reject not in {"break", "continue"}:
        raise InputError("must be break or continue", file=tree.shown(name), field="on_reject")
    flags = data.output_validator_flags or ""
    if isinstance(flags, dict):
        flags = flags.get("flags", "")
    return GroupSettings(
        flags=tuple(flags.split()),
        grader_flags=tuple(data.grader_flags.split()),
        accept_score=data.accept_score,
        reject_score=data.reject_score,
        breaks=data.on_reject == "break",
        custom=data.grading == "custom",
        best=_best(tree, name, data.range),
        file=name,
        stated=frozenset(own),
    )


def _best(tree: Tree, name: str, text: str | list[float]) -> float:
    try:
        low, high = (float(part) for part in (text.split() if isinstance(text, str) else text))
    except ValueError as error:
        what = f"must be two numbers such as `0 100`, not {text!r}"
        raise InputError(what, file=tree.shown(name), field="range") from error
    if not low <= high:
        raise InputError("the first must be the smaller", file=tree.shown(name), field="range")
    return high


def _newer(constants: Constants, tree: Tree, group: str, raw: dict[str, Any]) -> GroupSettings:
    """Settings of a group from test_group.yaml (testdata.yaml in early drafts).

    `raw` holds those of the group around it; the group's own that are inherited are added.
    """
    names = [join("data", group, name) for name in ("test_group.yaml", "testdata.yaml")]
    name = next((name for name in names if tree.is_file(name)), names[0])
    own = without_empty(read_yaml(tree, name, constants.text)) if tree.is_file(name) else {}
    data = convert(tree, name, own, _GroupFile)
    stated = Scoring(data.max_score, data.score_aggregation, data.require_pass)
    scoring = data.scoring or data.grading or stated
    if scoring != stated != Scoring():
        what = "drafts have it; beside max_score, score_aggregation or require_pass it is too much"
        raise InputError(what, file=tree.shown(name), field="scoring")
    if scoring != Scoring() and (group or SAMPLE).startswith(SAMPLE):
        what = "only `secret` and the groups in it are scored"
        raise InputError(what, file=tree.shown(name), field="scoring")
    if data.static_validation or data.static_validation_score is not None:
        what = "static validators are not supported"
        raise InputError(what, file=tree.shown(name), field="static_validation")
    raw.update(_inheritable(own))
    settings = _from_args(convert(tree, name, _inheritable(raw), _Args), name)
    return GroupSettings(settings.flags, settings.args, scoring=scoring, file=name)


def _inheritable(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: raw[key] for key in raw if key not in _OF_GROUP}


def _from_args(data: _Args, file: str) -> GroupSettings:
    early = data.output_validator_flags
    flags = data.output_validator_args or (early.split() if isinstance(early, str) else early)
    return GroupSettings(tuple(flags), tuple(data.args), file=file)
