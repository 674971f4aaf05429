"""What a program must be before it is run: text of bounded size that compiles.

Compiled in a cell: CPython's compiler can be made to crash, or to use up memory. What it imports is
looked at for advice to whoever wrote it; the sandbox is what holds it.
"""

from importlib.resources import files

import msgspec

from proctor.errors import InfraFault
from proctor.execution import Execution, LimitHit
from proctor.limits import GIB, MIB, Limits
from proctor.program import Program
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.directory_job import DirectoryResult
from proctor.solver.profile import Profile

MODULES = ("ast",)
"""What cells should have imported for cell/compiling.py."""
_TOLD = 20
_LIMITS = Limits(cpu=10.0, memory=GIB, output=4 * MIB)
_LOOK = (files("proctor.cell") / "compiling.py").read_text("utf-8")
_SHOW = """
import json, sys
print(json.dumps(look(sys.stdin.buffer.read(), "%s", whole=%s)))
"""


class Gated(msgspec.Struct, frozen=True):
    """What is said of a program, in the words of cell/compiling.py."""

    error: str | None
    """Why it may not be run."""
    imports: tuple[str, ...] = ()
    """Top-level modules that it names."""
    more: int = 0
    """How many of them are not told."""
    detail: str = "syntax"
    """A word for why not."""

    @property
    def ok(self) -> bool:
        """Whether it may be run."""
        return self.error is None


def size(code: str | bytes, profile: Profile) -> Gated | bytes:
    """Return the program's bytes, or why they cannot be a program."""
    data = code.encode("utf-8", "surrogatepass") if isinstance(code, str) else code
    most = profile.gate.max_bytes
    if len(data) > most:
        return Gated(f"the program has {len(data)} bytes, more than {most}", detail="too_large")
    if not data.strip():
        return Gated("No code in job.", detail="empty")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Gated(f"the program is not UTF-8: {error}", detail="encoding")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        return Gated(f"line {line}: the program has a NUL byte", detail="encoding")
    return data


def check(code: bytes, profile: Profile, pool: Submitting, *, compiled: bool = True) -> Gated:
    """Compile a program in a cell, or (`compiled` False) only parse it. Raises InfraFault."""
    program = Program(_LOOK + _SHOW % (profile.entry, compiled))
    done: Execution = pool.submit(lambda cell, _queued: cell.run(program, code, _LIMITS)).result()
    return _said(done.stdout) if done.ok else _killed(done)


def of(worked: DirectoryResult) -> Gated:
    """What was said of a program that was compiled before it was run. Raises InfraFault."""
    if worked.compiled is not None:
        return _said(worked.compiled)
    done = worked.execution
    by_itself = done.limit is None and done.signal is not None and not worked.stopped
    if by_itself or done.limit is LimitHit.MEMORY:
        return _killed(done)
    return Gated(None)  # its time was over, nobody wants it any more, or its files have no room


def _said(text: bytes) -> Gated:
    try:
        return msgspec.json.decode(text, type=Gated)
    except msgspec.DecodeError as error:
        raise InfraFault(f"a cell's word on whether a program compiles: {error}") from error


def _killed(done: Execution) -> Gated:
    how = f"limit {done.limit}" if done.limit else f"signal {done.signal}"
    return Gated(f"the compiler does not survive it ({how})")


def advice(gated: Gated, profile: Profile) -> list[str]:
    """Return what to tell whoever wrote it; none of it stops it."""
    if not profile.gate.imports:
        return []
    others = [name for name in gated.imports if name not in profile.gate.imports]
    told = [f"it imports {name[:100]}, which the profile does not list" for name in others[:_TOLD]]
    more = max(0, len(others) - _TOLD) + gated.more
    return [*told, f"and {more} more that the profile does not list"] if more > 0 else told
