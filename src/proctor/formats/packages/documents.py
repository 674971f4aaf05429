"""Untrusted YAML, JSON, TOML and XML, read into checked records.

Every mistake is an InputError with file and field, and the line where the parser knows it.
"""

import json
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, located, schema_error
from proctor.formats.packages.files import LARGEST_SOURCE, Tree
from proctor.formats.toml_tables import parse_toml
from proctor.json_values import check_values

_T = TypeVar("_T")
_MOST_ELEMENTS = 1 << 20
"""Elements and attributes of an XML file: one takes up to a kilobyte of memory."""
_MOST_UNKNOWN = 100
"""Keys that are left out with a note each."""
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*?)`(?: - at `(?P<at>.*)`)?")


def read_yaml(tree: Tree, name: str, edit: Callable[[str], str] | None = None) -> dict[str, Any]:
    """Mapping of a YAML file, empty for an empty file. `edit` changes the text before parsing.

    Of a key that is there twice the last value counts, as with PyYAML, and this is noted. Raises
    InputError.
    """
    # Not imported above: that takes time, and proctor's own, TPS and Polygon packages need no YAML.
    from proctor.formats.packages.yaml_text import parse_yaml

    text = tree.text(name) if edit is None else edit(tree.text(name))
    try:
        value = parse_yaml(text, lambda note: tree.notes(f"{name}: {note}"))
    except InputError as error:
        raise InputError(error.message, file=tree.shown(name), line=error.line) from error
    return _mapping(tree, name, {} if value is None else value)


def read_json(tree: Tree, name: str) -> dict[str, Any]:
    """A JSON file's object."""
    text = tree.text(name)
    try:
        check_values(text)
        value = json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise InputError(
            f"broken JSON: {error.msg}", file=tree.shown(name), line=error.lineno
        ) from error
    except InputError as error:
        raise InputError(error.message, file=tree.shown(name), field=error.field) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply", file=tree.shown(name)) from error
    except ValueError as error:  # a number with too many digits
        raise InputError(f"broken JSON: {error}", file=tree.shown(name)) from error
    return _mapping(tree, name, value)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise InputError(f"the key {key!r} is there twice", field=key)
        result[key] = value
    return result


def read_toml(tree: Tree, name: str) -> dict[str, Any]:
    """A TOML file's table."""
    try:
        return parse_toml(tree.text(name))
    except InputError as error:
        file = error.file or tree.shown(name)
        raise InputError(error.message, file=file, line=error.line) from error


def read_xml(
    tree: Tree, name: str, *, doctype: str | None = None, largest: int = LARGEST_SOURCE
) -> Element:
    """Root of an XML file of at most `largest` bytes.

    A document type is refused, and with it entities of any kind; one named `doctype` is
    allowed, but not read, if it defines nothing itself.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate()

    def refuse(what: str) -> None:
        raise InputError(what, file=tree.shown(name), line=parser.CurrentLineNumber)

    def start_doctype(root: str, _system: object, _public: object, defines: int) -> None:
        if root != doctype or defines:
            refuse("a document type is not read; remove it")

    def skip_entity(entity: str, _: object) -> None:
        refuse(f"the entity &{entity}; is not known")  # its text would be missing

    count = 0

    def start(element: str, attributes: dict[str, str]) -> Element:
        nonlocal count
        count += 1 + len(attributes)
        if count > _MOST_ELEMENTS:
            refuse(f"more than {_MOST_ELEMENTS} elements and attributes")
        return builder.start(element, attributes)

    parser.StartDoctypeDeclHandler = start_doctype
    parser.SkippedEntityHandler = skip_entity
    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(tree.content(name, largest=largest), True)
    except LookupError as error:  # an encoding that Python does not know
        raise InputError(f"broken XML: {error}", file=tree.shown(name)) from error
    except expat.ExpatError as error:
        what = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"broken XML: {what}", file=tree.shown(name), line=error.lineno) from error
    return builder.close()


def _mapping(tree: Tree, name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise InputError(f"must hold names with values, not a {kind}", file=tree.shown(name))
    for key in value:
        if not isinstance(key, str):
            what = f"{key!r} must be a name; put it in quotes"
            raise InputError(what, file=tree.shown(name), field=str(key))
    return value


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """The mapping without keys that have no value (`key:`), which count as absent."""
    return {
        key: without_empty(inner) if isinstance(inner, dict) else inner
        for key, inner in value.items()
        if inner is not None
    }


def convert(
    tree: Tree, name: str, value: Any, kind: type[_T], *, within: str = "", strict: bool = True
) -> _T:
    """A parsed value as a record. Raises InputError naming file and field.

    Records forbid unknown keys; the message says which known one is meant. `within` is the place
    of the value in the file. `strict=False` takes numbers in quotes too.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        problem = _unknown_key(str(error), kind) or schema_error(error)
        raise located(problem, tree.root / name, None, within) from error


def _unknown_key(message: str, kind: Any) -> InputError | None:
    match = _UNKNOWN.fullmatch(message)
    if match is None:
        return None
    key, at = match["key"], (match["at"] or "$").removeprefix("$").removeprefix(".")
    field = f"{at}.{key}" if at and at != "key" else key
    return InputError("unknown key" + did_you_mean(key, _keys(kind)), field=field)


def _keys(kind: Any) -> Collection[str]:
    """Every key that a record, or one within it, knows."""
    found: set[str] = set()
    todo, seen = [msgspec.inspect.type_info(kind)], set[int]()
    while todo:
        info = todo.pop()
        if id(info) in seen:
            continue
        seen.add(id(info))
        for field in getattr(info, "fields", ()):
            found.add(field.encode_name)
            todo.append(field.type)
        for part in ("types", "item_types"):
            todo += getattr(info, part, ())
        for part in ("item_type", "value_type"):
            if (inner := getattr(info, part, None)) is not None:
                todo.append(inner)
    return found


def set_aside(tree: Tree, name: str, value: dict[str, Any], kind: type) -> dict[str, Any]:
    """The value without keys that the record does not know, each of which is noted.

    For formats whose files carry what other systems like to know. A key that looks like a
    misspelt known one is an InputError all the same: it was meant to change the judging.
    """
    known = _keys(kind)
    unknown = [key for key in value if key not in known]
    if len(unknown) > _MOST_UNKNOWN:
        what = f"has {len(unknown)} keys that are unknown, {unknown[0]!r} among them"
        raise InputError(what, file=tree.shown(name))
    for key in unknown:
        if hint := did_you_mean(key, known):
            raise InputError(f"unknown key{hint}", file=tree.shown(name), field=key)
        tree.notes(f"{name}: the key {key!r} is unknown and was left out")
    return {key: content for key, content in value.items() if key in known}
