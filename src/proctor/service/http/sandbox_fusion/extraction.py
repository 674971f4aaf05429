"""Finds the program in a reply, with the client's own code if it sends some, run in a cell."""

import asyncio
from typing import Literal

import msgspec

from proctor.errors import InputError
from proctor.evals.extraction import extract
from proctor.languages.run import RunRequest
from proctor.limits import Limits
from proctor.program import Program
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.sandbox_fusion.schema import SubmitRequest

Kind = Literal["fenced", "heuristic", "empty"]
_FENCED, _HEURISTIC = 30, 10
"""Priorities that upstream gives the blocks it finds; the client's code chooses its own."""
_LIMITS = Limits(cpu=10.0, elapsed=10.0)
_SHOWN = 500
"""Characters of the stderr of the client's code that are shown when it fails."""
_PROGRAM = r"""
import json, re, sys

given = json.loads(sys.stdin.buffer.read())
submitted = []


class CodeBlock:
    def __init__(self, priority, language="", code=""):
        self.priority, self.language, self.code = int(priority), str(language), str(code)


def submit_code_blocks(blocks):
    submitted.extend(vars(block) for block in blocks)


def extract_fenced_code(completion, *_):
    fences = re.findall(r"```([^\n]*)\n(.*?)\n[ \t]*```", completion, re.DOTALL)
    return [CodeBlock(30, (tag.split() or [""])[0].lower(), code) for tag, code in fences]


def extract_heuristic_code(completion, *_):
    return [CodeBlock(10, given["language"], given["found"])] if given["found"] else []


exec(given["logic"], {
    "CodeBlock": CodeBlock,
    "completion": given["completion"],
    "submit_code_blocks": submit_code_blocks,
    "extract_fenced_code": extract_fenced_code,
    "extract_heuristic_code": extract_heuristic_code,
})
print("\n" + json.dumps(submitted))
"""


class CodeBlock(msgspec.Struct, frozen=True):
    """A part of a reply that the client's code takes for a program."""

    priority: int
    language: str
    code: str


async def program_of(
    engine: Engine, data: SubmitRequest, context: RequestContext
) -> tuple[str, Kind]:
    """Return the program and how it was found. Raises InputError if the client's code fails."""
    config = data.config
    # In a thread: it may parse for a second, in which others would wait for this loop.
    found = await asyncio.to_thread(extract, data.completion, language=config.language or "")
    code, fenced = found.code, "```" in data.completion
    if config.custom_extract_logic:
        least = (_FENCED if fenced else _HEURISTIC) if code.strip() else -1
        blocks = await _submitted(engine, data, code, context)
        best = max((each.priority for each in blocks), default=least)
        if best > least:
            first = [each for each in blocks if each.priority == best]
            wanted = [each for each in first if each.language == config.language]
            code = (wanted or first)[0].code
    if not code.strip():
        return "", "empty"
    return code, "fenced" if fenced else "heuristic"


async def _submitted(
    engine: Engine, data: SubmitRequest, found: str, context: RequestContext
) -> list[CodeBlock]:
    config = data.config
    given = {"completion": data.completion, "logic": config.custom_extract_logic}
    given |= {"language": config.language, "found": found}
    request = RunRequest(Program(_PROGRAM), msgspec.json.encode(given), limits=_LIMITS)
    execution = (await engine.run(request, context)).execution
    assert execution is not None  # Python is not compiled first
    if execution.ok:
        try:
            last = execution.stdout.rstrip().rsplit(b"\n", 1)[-1]
            return msgspec.json.decode(last, type=list[CodeBlock])
        except msgspec.DecodeError:
            pass
    said = execution.stderr.decode("utf-8", "replace").strip()[-_SHOWN:]
    raise InputError(f"config.custom_extract_logic failed: {said or 'it ended early'}")
