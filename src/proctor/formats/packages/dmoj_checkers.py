"""Checkers and interactors of a DMOJ problem."""

import re
from importlib import resources
from typing import Any, TypeVar

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.dmoj_files import Files
from proctor.formats.packages.dmoj_submissions import language_of
from proctor.formats.packages.documents import convert
from proctor.formats.packages.programs import by_extension
from proctor.grading import Checker, Comparison, Convention, Grading, Match
from proctor.problem import Interactive
from proctor.program import Program

_T = TypeVar("_T")
_CONVENTIONS = {"default": Convention.EXIT_CODE, "testlib": Convention.TESTLIB}
_NAMES = (
    "standard", "easy", "floats", "floatsabs", "floatsrel", "identical", "linecount", "sorted",
    "unordered", "bridged",
)  # fmt: skip
_OPTIMISATION = re.compile(r"-(?:O[0-3s]?|std=[\w+]+|W\w*|w|g|pipe|s)")
"""Compiler arguments that change nothing about what a checker says."""


class _Checker(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    args: dict[str, Any] = {}


class _None(msgspec.Struct, forbid_unknown_fields=True):
    feedback: Any = None


class _FloatOptions(msgspec.Struct, forbid_unknown_fields=True):
    precision: int = 6
    error_mode: str = "default"


class _Identical(msgspec.Struct, forbid_unknown_fields=True):
    pe_allowed: Any = None


class _Sorted(msgspec.Struct, forbid_unknown_fields=True):
    split_on: str = "lines"


class _Bridged(msgspec.Struct, forbid_unknown_fields=True):
    files: str | list[str]
    lang: str | None = None
    type: str = "default"
    flags: list[str] = []
    args: Any = None
    # Ignored: proctor's limits are the same for all checkers, and messages are always shown.
    time_limit: Any = None
    memory_limit: Any = None
    compiler_time_limit: Any = None
    preprocessing_time: Any = None
    feedback: Any = None
    cached: Any = None


def grading(files: Files, given: Any) -> Grading:  # noqa: PLR0911 - one for each checker
    """Read `checker`; standard if it is absent. Raises InputError."""
    if given is None or isinstance(given, str):
        given = {"name": given or "standard"}
    checker = convert(files.tree, files.said_by, given, _Checker, within="checker")
    name, args = checker.name, checker.args
    if name.endswith(".py"):
        what = "checkers that are modules of DMOJ's own judge are not run; use a bridged one"
        raise InputError(what, field="checker.name")
    match name:
        case "standard":
            _args(files, args, _None)
            return Comparison(Match.TOKEN_LINES)
        case "easy":
            _args(files, args, _None)
            return Comparison(Match.CHARACTERS, case_sensitive=False)
        case "floats" | "floatsabs" | "floatsrel":
            return _floats(name, _args(files, args, _FloatOptions))
        case "identical":
            _args(files, args, _Identical)
            return Comparison(Match.EXACT)
        case "sorted":
            return _sorted(_args(files, args, _Sorted))
        case "unordered":
            _args(files, args, _None)
            return Comparison(Match.UNORDERED_TOKENS)
        case "linecount":
            _args(files, args, _None)
            return Checker(_own(name), Convention.SCORE)
        case "bridged":
            return Checker(*_program(files, args, "checker.args"))
    what = f"unknown checker {name!r}{did_you_mean(name, _NAMES)}"
    raise InputError(what, field="checker.name")


def interactor(files: Files, given: dict[str, Any]) -> Interactive:
    """Read `interactive`. Raises InputError."""
    return Interactive(*_program(files, given, "interactive"))


def _args(files: Files, given: dict[str, Any], kind: type[_T]) -> _T:
    return convert(files.tree, files.said_by, given, kind, within="checker.args", strict=False)


def _floats(name: str, args: _FloatOptions) -> Comparison:
    modes = {"floatsabs": "absolute", "floatsrel": "relative"}
    mode = modes.get(name, args.error_mode)
    if mode not in {"default", "absolute", "relative"}:
        what = f"must be default, absolute or relative, not {mode!r}"
        raise InputError(what, field="checker.args.error_mode")
    if not 0 <= args.precision <= 300:
        raise InputError("must be from 0 to 300", field="checker.args.precision")
    epsilon = float(f"1e-{args.precision}")
    return Comparison(
        Match.TOKEN_LINES,
        absolute=None if mode == "relative" else epsilon,
        relative=None if mode == "absolute" else epsilon,
    )


def _sorted(args: _Sorted) -> Comparison:
    if args.split_on not in {"lines", "whitespace"}:
        what = f"must be lines or whitespace, not {args.split_on!r}"
        raise InputError(what, field="checker.args.split_on")
    lines = args.split_on == "lines"
    return Comparison(Match.UNORDERED_LINES if lines else Match.UNORDERED_TOKENS)


def _own(name: str) -> Program:
    """A checker that proctor brings."""
    file = resources.files("proctor") / "bundled" / "checkers" / f"{name}.py"
    return Program(file.read_text("utf-8"), "python", f"{name}.py")


def _program(files: Files, given: dict[str, Any], where: str) -> tuple[Program, Convention]:
    bridged = convert(files.tree, files.said_by, given, _Bridged, within=where, strict=False)
    convention = _CONVENTIONS.get(bridged.type)
    if convention is None:
        what = f"must be {' or '.join(_CONVENTIONS)}, not {bridged.type!r}"
        raise InputError(what, field=f"{where}.type")
    if bridged.args is not None:
        raise InputError("the order of arguments cannot be changed", field=f"{where}.args")
    for flag in bridged.flags:
        if not _OPTIMISATION.fullmatch(flag):
            raise InputError(f"{flag!r} cannot be passed on", field=f"{where}.flags")
    names = [bridged.files] if isinstance(bridged.files, str) else bridged.files
    if not names:
        raise InputError("there is no file in it", field=f"{where}.files")
    main, *others = ((name, files.content(name, f"{where}.files")) for name in names)
    source = main[1].decode("utf-8", "replace")
    language = by_extension(main[0], source)
    if bridged.lang is not None:
        language = language_of(bridged.lang)
    if language is None:
        named = bridged.lang or main[0]
        raise InputError(f"the language of {named!r} is not known", field=f"{where}.lang")
    beside = {name.rpartition("/")[2]: content for name, content in others}
    return Program(source, language, main[0].rpartition("/")[2], beside), convention
