"""Limits, clocks and facts of runs as JSON objects, which cross into a container and back.

Runs on both sides; standard library only. Decoding raises BadFrame.
"""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.cell.native_job import ENTRY
from proctor.execution import GUARANTEES, Execution, Guarantee, Isolation, LimitHit, Strength
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.cell import TestRun
from proctor.sandbox.clock import Clock, ContestClock, UpstreamClock
from proctor.sandbox.command import Command, Finished, Script, harvested
from proctor.sandbox.container.frames import BadFrame, Fields, Frame

PACKAGE = Path(__file__).parents[2]
INSIDE = ("cell", "sandbox")
"""Packages of proctor that run in a container."""
MODULES = (
    "__init__.py", "deprecation.py", "errors.py", "execution.py", "limits.py", "moved.py",
    "per_process.py", "private_files.py", "program.py", "shown.py", "units.py", "variables.py",
    "version.py",
)  # fmt: skip
"""Modules of proctor outside those packages that the packages need in a container."""


def sources(package: Path = PACKAGE) -> list[Path]:
    """Return the files that an image of proctor is made of, except those that are built in it."""
    inside = [path for name in INSIDE for path in (package / name).rglob("*")
              if path.suffix in (".py", ".c", ".h")]  # fmt: skip
    return sorted([*inside, *(package / name for name in MODULES)])


def digest(package: Path = PACKAGE) -> str:
    """Return a fingerprint of the Python files that must be the same on both sides."""
    known = hashlib.sha256()
    for path in sources(package):
        if path.suffix == ".py":
            known.update(path.relative_to(package).as_posix().encode() + b"\0")
            known.update(hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).digest())
    return known.hexdigest()[:16]


def limits_to_json(limits: Limits) -> dict[str, Any]:
    """Encode limits."""
    return dataclasses.asdict(limits)


def limits_from_json(fields: Fields) -> Limits:
    """Decode limits; their own class checks the values."""
    return Limits(**fields.header)


def clock_to_json(clock: Clock) -> dict[str, Any]:
    """Encode a clock."""
    if isinstance(clock, UpstreamClock):
        return {"timeout": clock.timeout}
    assert isinstance(clock, ContestClock)
    return {"limits": limits_to_json(clock.limits)}


def clock_from_json(fields: Fields) -> Clock:
    """Decode a clock."""
    if "timeout" in fields.header:
        return UpstreamClock(fields.seconds("timeout"))
    return ContestClock(limits_from_json(fields.object("limits")))


def longest(clock: Clock) -> float:
    """Return the wall seconds after which a clock has stopped any program on any machine."""
    if isinstance(clock, UpstreamClock):
        return max(20 * clock.timeout, 60.0)
    assert isinstance(clock, ContestClock)
    wall = clock.limits.wall
    return clock.limits.wall_backstop if wall is None else wall


def packages_inside(number: int) -> list[str]:
    """Return the paths of the setup's packages in a container."""
    return [f"/packages/{n}" for n in range(number)]


def packed(files: Mapping[str, bytes]) -> bytes:
    """Encode files, in the form of a harvest (cell/native_job.py)."""
    named = ((name.encode("utf-8", "surrogateescape"), data) for name, data in files.items())
    return b"".join(ENTRY.pack(len(name), len(data)) + name + data for name, data in named)


def command_to_json(command: Command, packages: Sequence[str]) -> dict[str, Any]:
    """Encode a command without its files; the program is the cell's Python."""
    there = dict(zip(packages, packages_inside(len(packages)), strict=True))
    environment = dict(command.environment)
    if "PYTHONPATH" in environment:
        places = environment["PYTHONPATH"].split(":")
        environment["PYTHONPATH"] = ":".join(there.get(place, place) for place in places)
    return {
        "arguments": list(command.argv[1:]),
        "directories": list(command.directories),
        "environment": environment,
        "collect": list(command.collect),
        "most": command.most,
        "judged": command.judged,
        "merged": command.merged,
    }


def script_to_json(script: Script) -> dict[str, Any]:
    """Encode a script without its source."""
    return {
        "name": script.name, "args": list(script.args), "line_buffered": script.line_buffered
    }  # fmt: skip


def script_from_json(fields: Fields, program: Program) -> Script:
    """Decode a script."""
    args, buffered = tuple(fields.header["args"]), fields.flag("line_buffered")
    return Script(program, fields.text("name"), args, buffered)


def command_from_json(fields: Fields, files: bytes, python: str) -> Command:
    """Decode a command, which executes `python`."""
    arguments, directories, collect = (
        tuple(fields.header[name]) for name in ("arguments", "directories", "collect")
    )
    return Command(
        (python, *arguments), None, harvested(files), directories,
        fields.object("environment").header, collect, fields.count("most"),
        fields.flag("judged"), merged=fields.flag("merged"),
    )  # fmt: skip


def finished_from(frame: Frame, isolation: Isolation) -> Finished:
    """Decode the outcome of a command; its streams and collected files are payloads."""
    stdout, stderr, files = _parts(frame, 3)
    execution = execution_from(Frame(frame.header, (stdout, stderr)), isolation)
    return Finished(execution, harvested(files))


_STREAMS = ("stdout", "stderr", "result", "isolation", "queue")


def facts_to_json(facts: Execution | TestRun) -> dict[str, Any]:
    """Encode a run's facts, without its streams and the facts that only the host knows."""
    names = [field.name for field in dataclasses.fields(facts) if field.name not in _STREAMS]
    return {name: getattr(facts, name) for name in names}


def execution_from(frame: Frame, isolation: Isolation) -> Execution:
    """Decode a run's facts, with its streams as payloads."""
    fields = Fields(frame.header)
    stdout, stderr = _parts(frame, 2)
    return Execution(
        exit_code=fields.count_or_none("exit_code", 255),
        signal=fields.count_or_none("signal", 64),
        stdout=stdout,
        stderr=stderr,
        cpu=fields.seconds("cpu"),
        wall=fields.seconds("wall"),
        memory=fields.count("memory"),
        queue=0.0,
        limit=limit_from(fields, "limit"),
        isolation=isolation,
    )


def test_run_from(frame: Frame) -> TestRun:
    """Decode a test's facts, with its streams as payloads."""
    fields = Fields(frame.header)
    stdout, stderr, result = _parts(frame, 3)
    return TestRun(
        exit_code=fields.count_or_none("exit_code", 255),
        signal=fields.count_or_none("signal", 64),
        stdout=stdout,
        stderr=stderr,
        result=result,
        raised=fields.text_or_none("raised"),
        harness_failure=fields.text_or_none("harness_failure"),
        cpu=fields.seconds("cpu"),
        wall=fields.seconds("wall"),
        memory=fields.count("memory"),
        limit=limit_from(fields, "limit"),
    )


def limit_from(fields: Fields, name: str) -> LimitHit | None:
    """Return which limit was hit."""
    value = fields.text_or_none(name)
    try:
        return None if value is None else LimitHit(value)
    except ValueError as error:
        raise BadFrame(f"`{name}` is not a limit: {value!r}") from error


def guarantees_to_json(guarantees: Mapping[str, Guarantee]) -> dict[str, Any]:
    """Encode guarantees."""
    return {name: dataclasses.asdict(held) for name, held in guarantees.items()}


def guarantees_from_json(fields: Fields) -> dict[str, Guarantee]:
    """Decode guarantees: every one, and no others."""
    if set(fields.header) != set(GUARANTEES):
        raise BadFrame("guarantees that are not those we know")
    held = {}
    for name in GUARANTEES:
        one = fields.object(name)
        try:
            strength = Strength(one.text("strength"))
        except ValueError as error:
            raise BadFrame(f"guarantee `{name}` has no strength that we know") from error
        held[name] = Guarantee(strength, one.text("how"), one.text("gap"))
    return held


def _parts(frame: Frame, number: int) -> tuple[bytes, ...]:
    if len(frame.parts) != number:
        raise BadFrame(f"{len(frame.parts)} payloads where {number} were due")
    return frame.parts
