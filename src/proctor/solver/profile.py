"""Profiles: what a kind of generated solver is given, must write, and how that is judged.

A profile is a TOML file, whose reference is docs/reference/profiles.md. BUILT_IN lists those that
come with proctor. A profile from a user's own file is trusted: its validator runs outside the
sandbox.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from proctor import units
from proctor.errors import InputError
from proctor.limits import GIB, MIB
from proctor.program import check_relative
from proctor.solver import named_function

BUILT_IN = {"packing": "solver/packing", "timetable": "timetable"}
"""Profiles that come with proctor: folders of `proctor` that hold a `profile.toml`, by id."""
DEFAULT = "timetable"
"""Id of the profile that is used where none is named."""
Status = Literal["optimal", "feasible", "infeasible", "unknown"]
T = TypeVar("T", bound=msgspec.Struct)


_WORDS: dict[str, Status] = {
    "OPTIMAL": "optimal",
    "FEASIBLE": "feasible",
    "SATISFIED": "feasible",
    "INFEASIBLE": "infeasible",
    "UNSATISFIABLE": "infeasible",
    "MODEL_INVALID": "infeasible",
}


class _ProfileTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of a profile's tables: an unknown field is a mistake."""


class GateRule(_ProfileTable, frozen=True):
    """`[gate]`: conditions that a program must meet before it is run."""

    max_bytes: int = MIB
    imports: tuple[str, ...] = ()
    """Modules that a program may import without a warning. Empty: no warnings."""


class InputRule(_ProfileTable, frozen=True):
    """`[input]`: the input that a program gets."""

    file: str = "input.json"
    schema: str = ""
    """File with a JSON Schema, beside the profile; empty: any JSON."""
    check: str = ""
    """Trusted Python, `check(input) -> list of texts`, that says what else is wrong with an input:
    `module:function`, or `file.py:function` beside the profile."""
    max_bytes: int = 32 * MIB


class ResultRule(_ProfileTable, frozen=True):
    """`[result]`: what a program must leave, print or return."""

    source: Literal["file", "stdout", "function"] = "file"
    """The file, the last line that is printed, or what the program's function returns."""
    file: str = "result.json"
    function: str = "solve"
    """Function that is called with the input, if that is the source. It may be a generator."""
    arguments: Literal["input", "keywords"] = "input"
    """The input as one argument, or its fields as keyword arguments."""
    schema: str = ""
    max_bytes: int = 8 * MIB
    max_depth: int = 64
    max_values: int = 1_000_000
    """Most values (objects, arrays, elements): in memory they are far larger than in a file."""
    summary: str = ""
    """`module:function` that returns `resultSummary` for a result, in proctor's own process."""

    @property
    def named(self) -> str:
        """The result in words, for messages."""
        return "the last line of stdout" if self.source == "stdout" else self.file


class IncumbentsRule(_ProfileTable, frozen=True):
    """`[incumbents]`: solutions that a program leaves before its end."""

    files: str = r"inc_\d{1,9}\.json"
    """Names, as a regular expression. The result's own file counts as one whenever it changes."""
    max_events: int = 1000
    """Most incumbents that are listed and announced."""


class MarkerRule(_ProfileTable, frozen=True):
    """`[marker]`: a line that a program prints when it has found a solution."""

    text: str = ""
    """Text to look for; empty: no line is looked for."""
    match: Literal["line", "substring"] = "line"
    """The text is a whole line or may stand anywhere. Case does not matter."""
    max: int = 1
    require: bool = False
    """True if a solution without it is refused."""


class StatusRule(_ProfileTable, frozen=True):
    """`[status]`: the fields by which a result says what it is."""

    field: str = "status"
    solution: str = "solution"
    """Field with the solution."""
    empty: Status = "infeasible"
    """Status of a solution that is empty or missing."""
    table: dict[str, Status] = msgspec.field(default_factory=lambda: dict(_WORDS))
    """Status by the result's word, in capitals; other words are `unknown`."""


class ObjectiveRule(_ProfileTable, frozen=True):
    """`[objective]`: the value that is minimised or maximised, if there is one."""

    field: str = ""
    """Field of the result; empty: there is no objective."""
    bound: str = "bound"
    sense: Literal["min", "max"] = "min"
    recompute: bool = True
    """True if the value that the validator computes counts, not the one that is claimed."""
    tolerance: float = 1e-6


class LimitsRule(_ProfileTable, frozen=True):
    """`[limits]`: sizes in bytes or as text ("2G"), durations in seconds or as text ("60s")."""

    wall: float | str = 60.0
    max_wall: float | str = 86400.0
    grace: float | str = 2.0
    """Time from SIGINT, at the end of `wall`, until all processes are killed."""
    workers: tuple[int, int] = (1, 8)
    """Fewest and most threads that a program is told to use."""
    memory: int | str = 2 * GIB
    disk: int | str = 256 * MIB
    output: int | str = 64 * MIB
    """Limit on stdout and on stderr, each; far less is shown."""
    processes: int | None = None
    """Processes and threads besides one for each worker; None for 128, or two for each CPU of the
    machine if that is more: libraries start one for each, whatever they are told."""


class ValidatorRule(_ProfileTable, frozen=True):
    """`[validator]`: trusted Python, `validate(input, result, custom_checks)`, and its limits."""

    function: str = ""
    """`module:function`, or `file.py:function` beside the profile; empty: nothing is checked."""
    reference: bool = False
    """True if it takes a fourth argument, `reference`: data in requests that only it sees."""
    timeout: float | str = 10.0
    memory: int | str = 2 * GIB


class PredicatesRule(_ProfileTable, frozen=True):
    """`[predicates]`: constraints whose check is source code in the input. Each runs in a cell."""

    constraints: str = ""
    """Field of the input that lists constraints; empty: predicates are not looked for."""
    kind: str = "custom_dsl"
    """Kind of those with a predicate; empty: any that has the field with the source."""
    source: str = "pythonPredicate"
    timeout: float | str = 5.0


class ArtifactsRule(_ProfileTable, frozen=True):
    """`[artifacts]`: further files that a program may leave, and how many results are kept."""

    files: str = ""
    """Paths in the working directory, as a regular expression."""
    max_files: int = 32
    max_bytes: int = 64 * MIB
    keep: int = 50
    """Number of results that a store keeps, the latest ones."""
    keep_bytes: int = 256 * MIB


class Profile(_ProfileTable, frozen=True):
    """A whole profile."""

    id: str
    version: int = 1
    entry: str = "solver_generated.py"
    """File name of the program."""
    warm: tuple[str, ...] = ()
    """Modules that cells import once, so that programs get them for free."""
    install: str = ""
    """Argument of `pip install`, for the message if those modules are missing."""
    modules: str = ""
    """A package that programs find beside them: `module:function` that returns its files."""
    roundtrip: str = ""
    """The profile's own model: `module:function` that returns a program. It reads the input and
    `claimed.json`, and leaves a solution exactly if the claimed one is a solution."""
    environment: dict[str, str] = {}
    """Environment variables of the program, besides those that every program gets."""
    deterministic_environment: dict[str, str] = {}
    """Further variables for a run that is to be repeatable."""
    prompt: str = ""
    """File beside the profile: instructions for a model that is to write such a program."""
    gate: GateRule = GateRule()
    input: InputRule = InputRule()
    result: ResultRule = ResultRule()
    incumbents: IncumbentsRule = IncumbentsRule()
    marker: MarkerRule = MarkerRule()
    status: StatusRule = StatusRule()
    objective: ObjectiveRule = ObjectiveRule()
    limits: LimitsRule = LimitsRule()
    validator: ValidatorRule = ValidatorRule()
    predicates: PredicatesRule = PredicatesRule()
    artifacts: ArtifactsRule = ArtifactsRule()
    directory: str = ""
    """Folder of its files; set on loading."""

    @property
    def name(self) -> str:
        """Id and version, as results carry it."""
        return f"{self.id}@{self.version}"

    def path(self, file: str) -> Path:
        """Return the path of one of its files."""
        return Path(self.directory, file)


def names() -> list[str]:
    """Return the ids of the profiles that come with proctor."""
    return sorted(BUILT_IN)


def folder(name: str) -> Path:
    """Return the folder of a profile that comes with proctor."""
    return Path(__file__).parents[1] / BUILT_IN[name]


def load(name: str) -> Profile:
    """Return a profile by its id, as `id@version` or id, or from a `.toml` file.

    Raises InputError, naming the file and the field.
    """
    plain, _, version = name.partition("@")
    if name.endswith(".toml"):
        return _read(Path(name))
    if plain not in names():
        known = ", ".join(names())
        raise InputError(
            f"there is no profile {name!r}: name one of {known}, or a .toml file", field="profile"
        )
    profile = _read(folder(plain) / "profile.toml")
    if version and version != str(profile.version):
        raise InputError(f"profile {plain} is of version {profile.version}", field="profile")
    return profile


def _read(path: Path) -> Profile:
    try:
        with path.open("rb") as file:
            table: dict[str, Any] = tomllib.load(file)
        if "directory" in table:
            raise InputError("is set by proctor", file=str(path), field="directory")
        profile = msgspec.convert({**table, "directory": str(path.parent.resolve())}, Profile)
        return _checked(profile)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error
    except msgspec.ValidationError as error:
        raise InputError(str(error), file=str(path)) from error
    except InputError as error:
        raise InputError(error.message, file=str(path), field=error.field) from error


def _checked(profile: Profile) -> Profile:
    """Return a profile with limits as numbers. Raises InputError."""
    for field, pattern in (
        ("incumbents.files", profile.incumbents.files),
        ("artifacts.files", profile.artifacts.files),
    ):
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(f"is not a regular expression: {error}", field=field) from error
    for field in ("input.schema", "result.schema", "prompt"):
        value: Any = profile
        for part in field.split("."):
            value = getattr(value, part)
        if value and not profile.path(value).is_file():
            raise InputError(f"there is no file {value}", field=field)
    for field, function in (
        ("input.check", profile.input.check), ("validator.function", profile.validator.function),
    ):  # fmt: skip
        named_function.check(Path(profile.directory), function, field)
    for field, name in (
        ("entry", profile.entry), ("input.file", profile.input.file),
        ("result.file", profile.result.file),
    ):  # fmt: skip
        if "/" in check_relative(name):  # a program could replace the directory by a link
            raise InputError("must be a plain file name", field=field)
    if not profile.result.function.isidentifier():
        raise InputError("must be the name of a function", field="result.function")
    low, high = profile.limits.workers
    if not 1 <= low <= high:
        raise InputError("must be two numbers from 1 on, the smaller first", field="limits.workers")
    return msgspec.structs.replace(
        profile,
        limits=_numbers(profile.limits, "limits"),
        validator=_numbers(profile.validator, "validator"),
        predicates=_numbers(profile.predicates, "predicates"),
    )


_DURATIONS = ("wall", "max_wall", "grace", "timeout")
_SIZES = ("memory", "disk", "output")


def _numbers(table: T, name: str) -> T:
    changes: dict[str, float | int] = {}
    for field in table.__struct_fields__:
        value = getattr(table, field)
        where = f"{name}.{field}"
        if field in _DURATIONS:
            changes[field] = units.seconds(value, where) if isinstance(value, str) else float(value)
        elif field in _SIZES:
            changes[field] = units.size(value, where) if isinstance(value, str) else value
        if field in changes and changes[field] <= 0:
            raise InputError("must be more than zero", field=where)
    return msgspec.structs.replace(table, **changes)


def modules(profile: Profile) -> Mapping[str, bytes]:
    """Return the files that programs find beside them, by relative path."""
    return _files(profile.modules) if profile.modules else {}


@cache
def _files(name: str) -> Mapping[str, bytes]:
    files: Mapping[str, bytes] = _imported(name)()
    return files


def roundtrip(profile: Profile) -> str:
    """Return the program that proves a claim. Raises InputError if the profile has none."""
    if not profile.roundtrip:
        raise InputError(f"profile {profile.id} has no model to prove claims by", field="roundtrip")
    program: str = _imported(profile.roundtrip)()
    return program


def _imported(name: str) -> Callable[..., Any]:
    """Import `module:function`."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def prompt(profile: Profile) -> str:
    """Return the instructions for a model that is to write a program. Raises InputError."""
    if not profile.prompt:
        raise InputError(f"profile {profile.id} has no text for models", field="prompt")
    return profile.path(profile.prompt).read_text("utf-8")
