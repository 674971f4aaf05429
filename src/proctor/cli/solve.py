"""`proctor solve` and `proctor profiles`: they read files, call the library, print."""

import contextlib
import sys
from pathlib import Path

from rich.table import Table

from proctor.cli import terminal
from proctor.cli.screen import Screen, coloured
from proctor.errors import InputError, NoLanguage, PlatformError, ProctorError, UsageError
from proctor.solver import profile as profiles
from proctor.solver.checking import need_schemas
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.host import SolverHost, packages_of
from proctor.solver.incumbents import OnIncumbent
from proctor.solver.report import ValidationReport
from proctor.solver.request import SolveRequest

_INTERRUPTED, _FAULT = 130, 125
_MOST_VIOLATIONS = 20


def solve(
    host: SolverHost, request: SolveRequest, given: str, *, as_json: bool, stream: bool
) -> int:
    """Run a solver and print the outcome; return the exit code. `given` is the input's file."""
    announce = _announcing(Screen(stderr=True), stream=stream, quiet=as_json)
    envelope = host.start(request, announce).result_even_if_interrupted()
    if envelope.phase == "prepare" and not (stream or as_json):
        raise InputError(envelope.error_digest, file=given)
    if stream:
        terminal.write_json({"event": "result", "result": envelope})
    elif as_json:
        terminal.write_json(envelope)
    else:
        _show(envelope, Screen())
    return _code(envelope)


def need_extra(host: SolverHost, profile: profiles.Profile, *, schemas: bool) -> None:
    """Raise UsageError if what the profile needs is neither installed nor in a container's image.

    `schemas` tells whether its schemas are to be checked, which is done on this machine.
    """
    try:
        if schemas:
            need_schemas(profile)
        packages_of(profile)
    except NoLanguage as missing:
        try:
            host.pool(profile)
        except ProctorError:
            if host.isolation == "container":  # a container does not use what is installed here
                raise
            raise UsageError(str(missing)) from missing
    except PlatformError as missing:
        raise UsageError(str(missing)) from missing


def check(host: SolverHost, program: str, profile: str, *, compiled: bool) -> int:
    """Print as JSON whether a program compiles, or only whether it parses; return the exit code."""
    gated = host.check(read(program), profiles.load(profile), compiled=compiled)
    terminal.write_json({"ok": gated.ok, "error": gated.error})
    return 0 if gated.ok else 1


def show_profiles(name: str | None) -> None:
    """Print the prompt of a profile, or the list of profiles. Raises InputError."""
    if name is not None:
        terminal.write(profiles.prompt(profiles.load(name)))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("profile", "result", "solution", "marker", "wall"):
        table.add_column(title)
    for each in map(profiles.load, profiles.names()):
        wall = f"{float(each.limits.wall):g} s"
        table.add_row(each.name, each.result.file, each.status.solution, each.marker.text, wall)
    Screen().print(table)


def _code(envelope: Envelope) -> int:
    if envelope.fault is not None:
        return _FAULT
    if envelope.status == "cancelled":
        return _INTERRUPTED
    if envelope.phase == "prepare":
        return InputError.exit_code
    return 0 if envelope.accepted else 1


def read(path: str) -> bytes:
    """Read a file, or stdin for `-`. Raises InputError."""
    if path == "-":
        if sys.stdin is None:
            raise InputError("there is no standard input to read the program from", file="-")
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error


def _announcing(screen: Screen, *, stream: bool, quiet: bool) -> OnIncumbent:
    def announce(incumbent: Incumbent) -> None:
        if stream:
            with contextlib.suppress(BrokenPipeError):
                terminal.write_json({"event": "incumbent", "incumbent": incumbent})
        elif not quiet and screen.is_terminal:
            screen.print(f"{incumbent.t:8.2f} s  {_figures(incumbent.objective, incumbent.bound)}")

    return announce


def _figures(objective: float | None, bound: float | None) -> str:
    parts = [] if objective is None else [f"objective {objective:g}"]
    parts += [] if bound is None else [f"bound {bound:g}"]
    return ", ".join(parts) or "a solution"


def _show(envelope: Envelope, screen: Screen) -> None:
    word = "accepted" if envelope.accepted else "not accepted"
    colour = "green" if envelope.accepted else "red"
    screen.print(coloured(f"{envelope.status}, {word}", colour))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in _rows(envelope):
        table.add_row(name, value)
    screen.print(table)
    if envelope.report is not None:
        _violations(envelope.report, screen)
    for warning in envelope.warnings:
        screen.print(f"warning: {warning}")
    if envelope.error_digest:
        screen.print(envelope.error_digest)


def _rows(envelope: Envelope) -> list[tuple[str, str]]:
    usage, partial = envelope.usage, envelope.partial
    rows = [("profile", envelope.profile), ("ended", envelope.phase)]
    if envelope.status_detail:
        rows.append(("detail", envelope.status_detail))
    if envelope.claimed_status:
        rows.append(("claims", envelope.claimed_status))
    rows.append(("answer", _answer(envelope)))
    if envelope.objective is not None:
        rows.append(("objective", f"{envelope.objective:g}, as recomputed"))
    if partial.available:
        told = _figures(partial.objective, partial.bound)
        valid = "valid" if partial.valid else "not valid"
        rows.append(("best before", f"{told}, {valid}, {(partial.age_ms or 0) / 1000:g} s old"))
    rows.append(("incumbents", str(len(envelope.incumbents))))
    seconds = f"{usage.wall_ms / 1000:g} s, CPU {usage.cpu_ms / 1000:g} s"
    size = f"{usage.peak_memory_mb:g} MB, {envelope.solver_workers} workers"
    rows.append(("used", f"{seconds}, {size}"))
    if envelope.isolation:
        rows.append(("isolation", envelope.isolation))
    if envelope.result_path:
        rows.append(("kept", envelope.result_path))
    return rows


def _answer(envelope: Envelope) -> str:
    answer = envelope.answer
    if answer is None:
        return "none"
    source = "the result" if answer.source == "result" else f"from before: {envelope.partial.file}"
    return source if answer.validated else f"{source}, not validated"


def _violations(report: ValidationReport, screen: Screen) -> None:
    for each in report.violations[:_MOST_VIOLATIONS]:
        text = f"{each.severity}: {each.constraint_id} ({each.kind}): {each.message}"
        screen.print(text)
    if (more := len(report.violations) - _MOST_VIOLATIONS) > 0:
        screen.print(f"... and {more} more")
    for note in report.unchecked_notes[:_MOST_VIOLATIONS]:
        screen.print(f"unchecked: {note}")
