"""Directory jobs and their outcomes as they cross into a container and back.

Runs on both sides; standard library only. Decoding raises BadFrame.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.cell.native_job import ENTRY
from proctor.execution import Isolation
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.container import crossing
from proctor.sandbox.container.frames import BadFrame, Fields, Frame
from proctor.sandbox.directory_job import DirectoryJob, DirectoryResult, FoundFile, ProgressLine

_MOST_FILES = 4096


def request(job: DirectoryJob, limits: Limits) -> tuple[dict[str, Any], list[bytes]]:
    """Encode a job: the source, and the files beside it."""
    header = {
        "do": "work",
        "limits": crossing.limits_to_json(limits),
        "name": job.program.name,
        "environment": dict(job.environment),
        "result": job.result,
        "interim": job.interim.pattern,
        "collect": None if job.collect is None else job.collect.pattern,
        "most": job.most,
        "keep": job.keep,
        "compiled": job.compiled,
        "grace": job.grace,
    }
    return header, [job.program.encoded(), _packed(job.program.files.items())]


def job_from(fields: Fields, parts: Sequence[bytes]) -> DirectoryJob:
    """Decode a job."""
    source, files = parts
    environment: Mapping[str, str] = fields.object("environment").header
    collect = fields.text_or_none("collect")
    return DirectoryJob(
        Program(
            source.decode("utf-8", "surrogatepass"),
            name=fields.text("name"),
            files=dict(_unpacked(files)),
        ),
        result=fields.text("result"),
        interim=re.compile(fields.text("interim")),
        environment=environment,
        collect=None if collect is None else re.compile(collect),
        most=fields.count("most"),
        keep=fields.count("keep"),
        compiled=fields.flag("compiled"),
        grace=fields.seconds("grace"),
    )


def answer(
    worked: DirectoryResult, heard: Sequence[FoundFile | ProgressLine]
) -> tuple[dict[str, Any], list[bytes]]:
    """Encode the outcome of a job, and the lines of progress in `heard`, in their order."""
    told = [each for each in heard if isinstance(each, ProgressLine)]
    files = [*worked.interim, *worked.collected]
    header = {
        **crossing.facts_to_json(worked.execution),
        "result": worked.result is not None,
        "complaint": worked.complaint,
        "interrupted": worked.interrupted,
        "stopped": worked.stopped,
        "compiled": None if worked.compiled is None else worked.compiled.decode("ascii"),
        "interim": len(worked.interim),
        "collected": len(worked.collected),
        "at": [each.at for each in files] + [each.at for each in told],
    }
    entries = [
        *((each.name, each.data) for each in files),
        *(("", each.line) for each in told),
        ("", worked.result or b""),
    ]
    done = worked.execution
    return header, [done.stdout, done.stderr, _packed(entries)]


def worked_from(frame: Frame, isolation: Isolation) -> tuple[DirectoryResult, list[ProgressLine]]:
    """Decode the outcome of a job, and the lines of progress heard on the way."""
    fields = Fields(frame.header)
    if len(frame.parts) != 3:
        raise BadFrame(f"{len(frame.parts)} payloads where 3 were due")
    stdout, stderr, packed = frame.parts
    entries = _unpacked(packed)
    times = frame.header.get("at")
    if not isinstance(times, list) or len(times) + 1 != len(entries):
        raise BadFrame("files and their times do not fit")
    if not all(isinstance(at, int | float) and 0 <= at < 1e9 for at in times):
        raise BadFrame("a time that is none")
    interim, collected = fields.count("interim"), fields.count("collected")
    if interim + collected > len(times):
        raise BadFrame("fewer files than it says")
    found = [FoundFile(name, data, at) for (name, data), at in zip(entries, times, strict=False)]
    told = [ProgressLine(each.data, each.at) for each in found[interim + collected :]]
    compiled = fields.text_or_none("compiled")
    execution = crossing.execution_from(Frame(frame.header, (stdout, stderr)), isolation)
    worked = DirectoryResult(
        execution,
        entries[-1][1] if fields.flag("result") else None,
        fields.text("complaint"),
        tuple(found[:interim]),
        fields.flag("interrupted"),
        fields.flag("stopped"),
        tuple(found[interim : interim + collected]),
        None if compiled is None else compiled.encode(),
    )
    return worked, told


def _packed(files: Iterable[tuple[str, bytes]]) -> bytes:
    named = ((name.encode("utf-8", "surrogateescape"), data) for name, data in files)
    return b"".join(ENTRY.pack(len(name), len(data)) + name + data for name, data in named)


def _unpacked(data: bytes) -> list[tuple[str, bytes]]:
    files: list[tuple[str, bytes]] = []
    view, at = memoryview(data), 0
    while at < len(data):
        if len(data) - at < ENTRY.size or len(files) > _MOST_FILES:
            raise BadFrame("files that are cut short, or too many")
        length, size = ENTRY.unpack_from(data, at)
        start = at + ENTRY.size
        at = start + length + size
        if at > len(data):
            raise BadFrame("files that are cut short")
        name = bytes(view[start : start + length]).decode("utf-8", "surrogateescape")
        files.append((name, bytes(view[start + length : at])))
    return files
