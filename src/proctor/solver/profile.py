"""Profiles: what a kind of generated solver is given, must write, and how that is judged. Data.

A profile is a TOML file, whose reference is docs/reference/profiles.md. Those that come with
proctor are in profiles/NAME/profile.toml; whoever names a file of his own trusts it: its validator
runs outside the sandbox.
"""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from proctor import units
from proctor.cell.compiling import ERRORS
from proctor.errors import InputError
from proctor.limits import GIB, MIB
from proctor.program import check_relative

BUILT_IN = Path(__file__).parent / "profiles"
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


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tables of a profile: an unknown field is a mistake."""


class Gate(_Table, frozen=True):
    """`[gate]`: what a program must be before it is run."""

    max_bytes: int = MIB
    imports: tuple[str, ...] = ()
    """Modules that it should import and no others: others are warned of. Empty: no advice."""


class Input(_Table, frozen=True):
    """`[input]`: what a program gets."""

    file: str = "input.json"
    schema: str = ""
    """File with a JSON Schema, beside the profile; empty: any JSON."""
    check: str = ""
    """Trusted Python that says what else is wrong with an input, `check(input) -> list of texts`:
    `module:function`, or `file.py:function` beside the profile."""
    max_bytes: int = 32 * MIB


class Result(_Table, frozen=True):
    """`[result]`: what a program must leave."""

    file: str = "result.json"
    schema: str = ""
    max_bytes: int = 8 * MIB
    max_depth: int = 64
    max_values: int = 1_000_000
    """Objects, arrays and what is in them: in memory they are far larger than in a file."""


class Incumbents(_Table, frozen=True):
    """`[incumbents]`: solutions that a program leaves on its way."""

    files: str = r"inc_\d{1,9}\.json"
    """Names, as a regular expression. The result's own file counts as one whenever it changes."""
    max_events: int = 1000
    """How many are listed, and told of."""


class Marker(_Table, frozen=True):
    """`[marker]`: a line that a program prints when it has found a solution."""

    text: str = ""
    """Empty: there is none."""
    match: Literal["line", "substring"] = "line"
    """A whole line, or anywhere. Letters' case does not matter."""
    max: int = 1
    require: bool = False
    """Whether a solution without it is refused."""


class StatusRule(_Table, frozen=True):
    """`[status]`: where a result says what it is."""

    field: str = "status"
    solution: str = "solution"
    """Field with the solution."""
    empty: Status = "infeasible"
    """What a solution that is empty or missing is."""
    table: dict[str, Status] = msgspec.field(default_factory=lambda: dict(_WORDS))
    """What words mean, in capitals; other words are `unknown`."""


class Objective(_Table, frozen=True):
    """`[objective]`: what is minimised or maximised, if anything."""

    field: str = ""
    """Empty: there is none."""
    bound: str = "bound"
    sense: Literal["min", "max"] = "min"
    recompute: bool = True
    """Whether what the validator computes is what counts."""
    tolerance: float = 1e-6


class Bounds(_Table, frozen=True):
    """`[limits]`: sizes as bytes or such as "2G", durations as seconds or such as "60s"."""

    wall: float | str = 60.0
    max_wall: float | str = 86400.0
    grace: float | str = 2.0
    """From SIGINT, at the end of `wall`, to the end of all."""
    workers: tuple[int, int] = (1, 8)
    memory: int | str = 2 * GIB
    disk: int | str = 256 * MIB
    output: int | str = 64 * MIB
    """Of stdout and of stderr each, counted; what is shown is far less."""
    processes: int = 16
    """Besides one for each worker."""


class Validator(_Table, frozen=True):
    """`[validator]`: Python that is trusted, `validate(input, result, custom_checks) -> Report`."""

    function: str = ""
    """`module:function`, or `file.py:function` beside the profile; empty: nothing is checked."""
    timeout: float | str = 10.0
    memory: int | str = 2 * GIB


class Predicates(_Table, frozen=True):
    """`[predicates]`: constraints whose check is source in the input. Each runs in a cell."""

    constraints: str = ""
    """Field of the input that lists constraints; empty: there are none of this kind."""
    kind: str = "custom_dsl"
    """Empty: of any kind, if they have the field with the source."""
    source: str = "pythonPredicate"
    timeout: float | str = 5.0


class Artifacts(_Table, frozen=True):
    """`[artifacts]`: what else a program may leave, and what of all runs is kept."""

    files: str = ""
    """Paths in the working directory, as a regular expression."""
    max_files: int = 32
    max_bytes: int = 64 * MIB
    keep: int = 50
    """Results that a store keeps: the latest."""
    keep_bytes: int = 256 * MIB


class Profile(_Table, frozen=True):
    """A whole profile."""

    id: str
    version: int = 1
    entry: str = "solver_generated.py"
    """File name of the program."""
    warm: tuple[str, ...] = ()
    """Modules that cells import once, so that programs get them for free."""
    install: str = ""
    """What to install if they are missing."""
    modules: str = ""
    """A package that programs find beside them: `module:function` that returns its files."""
    roundtrip: str = ""
    """The profile's own model: `module:function` that returns a program, which finds the input and
    `claimed.json`, and leaves a solution exactly if what is claimed is one."""
    environment: dict[str, str] = {}
    prompt: str = ""
    """File, beside the profile, with what to tell a model that is to write such a program."""
    gate: Gate = Gate()
    input: Input = Input()
    result: Result = Result()
    incumbents: Incumbents = Incumbents()
    marker: Marker = Marker()
    status: StatusRule = StatusRule()
    objective: Objective = Objective()
    limits: Bounds = Bounds()
    validator: Validator = Validator()
    predicates: Predicates = Predicates()
    artifacts: Artifacts = Artifacts()
    directory: str = ""
    """Where its files are; set on loading."""

    @property
    def name(self) -> str:
        """Id and version, as results carry it."""
        return f"{self.id}@{self.version}"

    def path(self, file: str) -> Path:
        """Return where one of its files is."""
        return Path(self.directory, file)


def names() -> list[str]:
    """Return the profiles that come with proctor."""
    return sorted(path.parent.name for path in BUILT_IN.glob("*/profile.toml"))


def load(name: str) -> Profile:
    """Return a profile that comes with proctor, or that a `.toml` file holds.

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
    profile = _read(BUILT_IN / plain / "profile.toml")
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
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error
    except msgspec.ValidationError as error:
        raise InputError(str(error), file=str(path)) from error
    except InputError as error:
        raise InputError(error.message, file=str(path), field=error.field) from error


def _checked(profile: Profile) -> Profile:
    """Return it with limits as numbers. Raises InputError."""
    for field, pattern in (
        ("incumbents.files", profile.incumbents.files),
        ("artifacts.files", profile.artifacts.files),
    ):
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(f"is no regular expression: {error}", field=field) from error
    for field in ("input.schema", "result.schema", "prompt"):
        value: Any = profile
        for part in field.split("."):
            value = getattr(value, part)
        if value and not profile.path(value).is_file():
            raise InputError(f"there is no file {value}", field=field)
    for field, function in (
        ("input.check", profile.input.check), ("validator.function", profile.validator.function),
    ):  # fmt: skip
        _need_function(profile, function, field)
    for field, name in (
        ("entry", profile.entry), ("input.file", profile.input.file),
        ("result.file", profile.result.file),
    ):  # fmt: skip
        if "/" in check_relative(name):  # a program could make a link of the directory
            raise InputError("is a plain file name", field=field)
    low, high = profile.limits.workers
    if not 1 <= low <= high:
        raise InputError("is two numbers, from 1 on, the smaller first", field="limits.workers")
    return msgspec.structs.replace(
        profile,
        limits=_numbers(profile.limits, "limits"),
        validator=_numbers(profile.validator, "validator"),
        predicates=_numbers(profile.predicates, "predicates"),
    )


def _need_function(profile: Profile, named: str, where: str) -> None:
    """Raise InputError unless a function can be there: one in a file of the profile's must be."""
    home, _, function = named.partition(":")
    if not named:
        return
    if not home or not function.isidentifier():
        raise InputError(f"is module:function or file.py:function, not {named!r}", field=where)
    if not home.endswith(".py"):
        return
    try:
        tree = ast.parse(profile.path(home).read_bytes(), home)
    except OSError as error:
        raise InputError(f"cannot be read: {home}: {error.strerror}", field=where) from error
    except ERRORS as error:
        raise InputError(f"{home} is no Python: {error}", field=where) from error
    if not any(function in _names(node) for node in ast.walk(tree)):
        raise InputError(f"{home} defines no {function}", field=where)


def _names(node: ast.AST) -> set[str]:
    """Return the names that a node may define."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.alias():
            return {node.asname or node.name}
        case ast.Name(ctx=ast.Store()):
            return {node.id}
    return set()


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
