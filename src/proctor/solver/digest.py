"""A digest of what went wrong, for people and for the prompt to repair a program."""

import re
from collections.abc import Iterable, Sequence

from proctor.solver.report import ValidationReport

MOST = 800
"""Most characters of a digest."""
_LINES = 12
_SEEN = 64 * 1024
"""Bytes of a stream that are looked at."""
_LONGEST_LINE = 300
_IDS = 5
_HEAD = b"Traceback (most recent call last):"
_TRACEBACKS = 20
_FRAME = re.compile(r'\s+File "(?P<file>[^"]*)", line \d+')


def of_program(stderr: bytes, stdout: bytes, entry: str, marker: str = "") -> str:
    """Return the exception that ended a program and its own line, else the last lines it printed.

    `entry`: the file name of the program. Lines that hold only the marker are left out.
    """
    return _exception(stderr, entry) or _last_lines(stderr, marker) or _last_lines(stdout, marker)


def _exception(stderr: bytes, entry: str) -> str:
    """Return the last traceback's exception, after the program's own last line in it."""
    at = _last_traceback(stderr)
    if at < 0:
        return ""
    lines = stderr[at : at + _SEEN].decode("utf-8", "replace").splitlines()[1:]
    count = next((n for n, line in enumerate(lines) if line[:1] != " "), len(lines))
    frames, said = lines[:count], [line.rstrip() for line in lines[count:] if line.strip()]
    starts = [n for n, line in enumerate(frames) if _FRAME.match(line)]
    own = [n for n in starts if _file(frames[n]) == entry]
    shown = [_frame(frames, n) for n in dict.fromkeys([*own[-1:], *starts[-1:]])]
    where = "\n".join(shown)[: MOST // 2]
    return f"{where}\n{chr(10).join(said[:_LINES])}".strip()[:MOST]


def _last_traceback(stderr: bytes) -> int:
    """Return the offset of the last traceback that is not of an ignored exception; -1 for none."""
    end = len(stderr)
    for _ in range(_TRACEBACKS):
        at = stderr.rfind(_HEAD, 0, end)
        before = stderr[max(at - 1000, 0) : max(at - 1, 0)].rpartition(b"\n")[2]
        if at < 0 or not before.startswith(b"Exception ignored"):
            return at
        end = at
    return -1


def _file(line: str) -> str:
    found = _FRAME.match(line)
    return found["file"].rpartition("/")[2] if found else ""


def _frame(lines: Sequence[str], at: int) -> str:
    """Return a frame's place and its line of source."""
    code = lines[at + 1 : at + 2]
    own = [line for line in code if not _FRAME.match(line)]
    return "\n".join(_cut(line.strip()) for line in [lines[at], *own])


def _last_lines(stream: bytes, marker: str) -> str:
    text = stream[-_SEEN:].decode("utf-8", "replace")
    told = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in told if not marker or line.upper() != marker.upper()]
    return "\n".join(_cut(line) for line in told[-_LINES:])[-MOST:]


def of_report(report: ValidationReport) -> str:
    """Return the hard constraints that do not hold or were not checked: by kind, count and ids."""
    groups: dict[tuple[bool, str], list[tuple[str, int, str]]] = {}
    for broken in report.hard_violations:
        told = (broken.constraint_id, broken.count, broken.message)
        groups.setdefault((False, broken.kind), []).append(told)
    for each in report.unchecked:
        if each.severity == "hard":
            told = (each.constraint_id, 1, each.why)
            groups.setdefault((True, each.kind), []).append(told)
    lines, left, room = [], len(groups), MOST - 40
    for (unchecked, kind), members in groups.items():
        line = _group(kind, members, unchecked=unchecked)
        if len(line) >= room:
            break
        lines.append(line)
        left, room = left - 1, room - len(line) - 1
    more = [f"and constraints of {left} more kinds"] if left else []
    return "\n".join([*lines, *more])


def _group(kind: str, members: Sequence[tuple[str, int, str]], *, unchecked: bool) -> str:
    count = sum(number for _, number, _ in members)
    many = "" if count == 1 else "s"
    what = f"{count} not checked" if unchecked else f"{count} violation{many}"
    ids = _ids(id_ for id_, _, _ in members if id_ != kind)
    return _cut(f"{_cut(kind, 80)}: {what}{f' ({ids})' if ids else ''}: {members[0][2]}")


def _ids(ids: Iterable[str]) -> str:
    known = list(dict.fromkeys(ids))
    more = [f"{len(known) - _IDS} more"] if len(known) > _IDS else []
    return ", ".join([*(_cut(each, 20) for each in known[:_IDS]), *more])


def _cut(text: str, most: int = _LONGEST_LINE) -> str:
    text = " ".join(text.splitlines())
    return text if len(text) <= most else f"{text[: most - 3]}..."
