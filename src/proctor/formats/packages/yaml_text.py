"""Untrusted YAML."""

from collections.abc import Callable, Hashable
from typing import Any

import yaml

from proctor.errors import InputError

LARGEST = 1 << 20
"""Characters of a text, which PyYAML may need ten seconds for."""


class _Loader(yaml.SafeLoader):
    """Safe loader that refuses aliases, and notes keys that are there twice.

    Nested aliases can make a small text exhaust the memory of code that walks the result.
    """

    notes: Callable[[str], None]

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.get_mark()
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not read; write the value out", mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # the base class refuses it
            if key in seen:
                line = key_node.start_mark.line + 1
                self.notes(f"line {line}: the key {key!r} is there twice; the last one counts")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _ignore(_note: str) -> None:
    """Do nothing with a note."""


def parse_yaml(text: str, notes: Callable[[str], None] = _ignore) -> Any:
    """Value of a text, None for an empty one. `notes` is called for keys that are there twice.

    Raises InputError, with the line if it is known.
    """
    if len(text) > LARGEST:
        raise InputError(f"has more than {LARGEST >> 20} MiB, which is too large to be read")
    try:
        loader = _Loader(text)
        loader.notes = notes
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise InputError(f"broken YAML: {error.problem or error.context}", line=line) from error
    except (
        # ValueError: a date such as 2024-99-99. The others: raised by PyYAML for a tag such as
        # !!timestamp before a value of another kind.
        yaml.YAMLError, ValueError, AttributeError, TypeError, LookupError, OverflowError,
    ) as error:  # fmt: skip
        said = " ".join(str(error).split())
        raise InputError(f"broken YAML: {said}") from error
    except RecursionError as error:
        raise InputError("the YAML is nested too deeply") from error
