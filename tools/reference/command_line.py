"""The commands of proctor: what `--help` says, as a page."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from markdown import code, fenced, prose, table
from typer.main import get_command

from proctor.cli.main import app
from proctor.cli.panels import COMMANDS

COMMON = "options-of-several-commands"
_MANY = 2
"""So many commands must have an option, described alike, for it to be told of once for all."""


def commands() -> str:
    """Return a section for each command, in the order of `proctor --help`."""
    listed = dict(_listed(get_command(app)))
    shared = _shared(listed)
    parts = [_contents(listed)]
    for title, command in listed.items():
        parts.append(f"## `{title}`")
        parts += _family(command, shared) if _is_group(command) else _one(title, command, shared)
    parts += ["## Options of several commands", *_table(list(shared.values()))]
    return "\n\n".join(parts) + "\n"


def _listed(top: Any) -> Iterator[tuple[str, Any]]:
    """Yield each command by its full name; a group whose commands are much alike as one."""
    for name in (name for names in COMMANDS.values() for name in names):
        command = top.commands[name]
        below = getattr(command, "commands", {})
        if name == "eval":
            yield f"proctor {name} {next(iter(below))}", command
        elif below:
            yield from ((f"proctor {name} {each}", inner) for each, inner in below.items())
        else:
            yield f"proctor {name}", command


def _shared(listed: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """Return the options that many commands have, by what is said of them; each name once."""
    count: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], Any] = {}
    for command in listed.values():
        for option in filter(_is_option, _first(command).params):
            count[_row(option)] += 1
            first.setdefault(_row(option), option)
    usual: dict[str, tuple[str, ...]] = {}
    for row, number in count.most_common():
        if number >= _MANY:
            usual.setdefault(_typed(first[row]), row)
    return {row: option for row, option in first.items() if row in usual.values()}


def _contents(listed: Mapping[str, Any]) -> str:
    rows = []
    for panel, names in COMMANDS.items():
        found = [title for name in names for title in listed if title.split()[1] == name]
        links = [
            f"[{title.removeprefix('proctor ')}](#{title.replace(' ', '-')})" for title in found
        ]
        rows.append((panel, ", ".join(links)))
    return table(("", "commands"), rows)


def _one(title: str, command: Any, shared: Mapping[tuple[str, ...], Any]) -> Iterator[str]:
    yield code(
        " ".join([title, "[OPTIONS]", *(_metavar(e) for e in command.params if not _is_option(e))])
    )
    yield from map(prose, command.help.split("\n\n"))
    yield from _examples(command)
    yield from _parameters(command.params, shared)


def _family(group: Any, shared: Mapping[tuple[str, ...], Any]) -> Iterator[str]:
    """Describe commands that share most options: the first whole, the others by what differs."""
    first = next(iter(group.commands))
    whole = group.commands[first]
    yield from map(
        prose,
        group.help.replace(
            "BENCHMARK is one of those below, those of installed packages included",
            "The benchmark is one of those in the table, one of an installed package",
        ).split("\n\n"),
    )
    yield from _examples(group)
    yield from map(prose, whole.help.split("\n\n")[1:])
    everything = {e.name: e for one in group.commands.values() for e in one.params}
    yield from _parameters(list(everything.values()), shared)
    rows = [(code(each), prose(_summary(one))) for each, one in group.commands.items()]
    yield table(("benchmark", "what it asks for"), rows)
    yield "Not every benchmark has every option:\n\n" + "\n".join(_exceptions(group, everything))


def _exceptions(group: Any, everything: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each set of options that the same benchmarks have, or lack."""
    sets: dict[str, list[str]] = {}
    for key, option in everything.items():
        having = [n for n, each in group.commands.items() if key in {e.name for e in each.params}]
        lacking = [name for name in group.commands if name not in having]
        few = f"only {', '.join(having)}" if len(having) < len(lacking) else ""
        said = few or ", ".join(f"not {name}" for name in lacking)
        if lacking:
            sets.setdefault(said, []).append(code(_typed(option)))
    for said, options in sets.items():
        yield f"- {', '.join(options)}: {said}"


def _summary(command: Any) -> str:
    return str(command.help).partition("\n\n")[0]


def _examples(command: Any) -> Iterator[str]:
    if command.epilog:
        yield fenced("sh", command.epilog.split("\n\n")[1:])


def _parameters(params: list[Any], shared: Mapping[tuple[str, ...], Any]) -> Iterator[str]:
    arguments = [(code(_metavar(e)), prose(e.help)) for e in params if not _is_option(e)]
    if arguments:
        yield "\n".join(f"- {name}: {meaning}" for name, meaning in arguments)
    options = [each for each in params if _is_option(each)]
    yield from _table([each for each in options if _row(each) not in shared])
    common = [code(_typed(each)) for each in options if _row(each) in shared]
    if common:
        yield f"And [of several commands](#{COMMON}): {', '.join(common)}."


def _table(options: list[Any]) -> Iterator[str]:
    if options:
        yield table(("option", "default", "meaning"), map(_row, options))


def _row(option: Any) -> tuple[str, str, str]:
    written = _typed(option) if option.is_flag else f"{_typed(option)} {option.metavar}"
    others = (
        ""
        if option.secondary_opts
        else "".join(f", {code(each)}" for each in option.opts if each != _typed(option))
    )
    return code(written) + others, _default(option), prose(option.help)


def _typed(option: Any) -> str:
    """Return the option as somebody writes it who wants what is not the default."""
    return str(option.secondary_opts[0] if option.default is True else max(option.opts, key=len))


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return prose(option.show_default)
    if option.default is None or option.is_flag:
        return ""
    return code(str(option.default))


def _metavar(argument: Any) -> str:
    text = str(argument.metavar)
    return text if argument.required or text.startswith("[") else f"[{text}]"


def _is_option(param: Any) -> bool:
    return bool(param.param_type_name == "option")


def _is_group(command: Any) -> bool:
    return hasattr(command, "commands")


def _first(command: Any) -> Any:
    return next(iter(command.commands.values())) if _is_group(command) else command
