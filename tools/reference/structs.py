"""Fields of msgspec structs: names, types and defaults, and the docstrings behind them."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect as types


class Field(NamedTuple):
    """A field as readers of JSON or TOML see it."""

    name: str
    type: str
    """Type, and in requests the default, or that it is required."""
    meaning: str


def fields(struct: Any) -> Iterator[Field]:
    """Yield the fields of a struct. Raises LookupError for one without a docstring."""
    meanings, sent = _docstrings(struct), struct.__struct_config__.forbid_unknown_fields
    for each in msgspec.structs.fields(struct):
        if each.name not in meanings:
            raise LookupError(f"{struct.__name__}.{each.name} has no docstring")
        kind = type_text(types.type_info(each.type))
        if sent:  # null means the same as leaving the field out
            kind = kind.removesuffix(" or null") + _default(each)
        yield Field(each.encode_name, kind, meanings[each.name])


def title(struct: Any) -> str:
    """Return the name of a struct in documents, without the ending of its class."""
    return str(struct.__name__).removesuffix("Json")


def type_text(info: Any) -> str:
    """Describe a type in words; structs are links to their headings."""
    if isinstance(info, types.EnumType):
        info = types.LiteralType(tuple(each.value for each in info.cls))
    match info:
        case types.StructType(cls=cls):
            return f"[{title(cls)}](#{title(cls).lower()})"
        case types.LiteralType(values=values):
            return " ".join(f"`{each}`" for each in values)
        case types.UnionType(types=several):
            return " or ".join(type_text(each) for each in several)
        case types.DictType(value_type=value):
            return f"{type_text(value)} by name"
        case types.VarTupleType(item_type=item) | types.ListType(item_type=item):
            return f"list of {type_text(item)}"
    return _SIMPLE[type(info)]


_SIMPLE: dict[Any, str] = {
    types.IntType: "integer",
    types.FloatType: "number",
    types.StrType: "text",
    types.BoolType: "boolean",
    types.AnyType: "any JSON",
    types.NoneType: "null",
}


def _default(field: Any) -> str:
    if field.required:
        return "; required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value in (None, "", (), {}) or isinstance(value, msgspec.Struct):
        return ""
    return f"; default `{value if isinstance(value, str) else msgspec.json.encode(value).decode()}`"


def _docstrings(struct: Any) -> dict[str, str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(struct))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(text))):
                found[name] = text
    return found
