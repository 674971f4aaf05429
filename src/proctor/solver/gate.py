"""The gate before a run: a program must be text of bounded size that compiles.

It is compiled in a cell, since CPython's compiler can be made to crash or to use up memory. Its
imports are looked at only to advise its author; it is the sandbox that confines it.
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
"""Modules that cells should import beforehand, for cell/compiling.py."""
_MOST_ADVICE = 20
_LIMITS = Limits(cpu=10.0, memory=GIB, output=4 * MIB)
_LOOK = (files("proctor.cell") / "compiling.py").read_text("utf-8")
_SHOW = """
import json, sys
print(json.dumps(look(sys.stdin.buffer.read(), "%s", whole=%s)))
"""


class GateResult(msgspec.Struct, frozen=True):
    """The verdict on a program, as cell/compiling.py gives it."""

    error: str | None
    """Why it may not be run; None if it may."""
    imports: tuple[str, ...] = ()
    """Top-level modules that it imports."""
    more: int = 0
    """Number of imported modules that are not listed."""
    detail: str = "syntax"
    """The reason in one word, as in the envelope's `statusDetail`."""

    @property
    def ok(self) -> bool:
        """True if it may be run."""
        return self.error is None


def encode(code: str | bytes, profile: Profile) -> GateResult | bytes:
    """Return the program's bytes, or why they cannot be a program."""
    data = code.encode("utf-8", "surrogatepass") if isinstance(code, str) else code
    most = profile.gate.max_bytes
    if len(data) > most:
        return GateResult(
            f"the program has {len(data)} bytes, more than {most}", detail="too_large"
        )
    if not data.strip():
        return GateResult("No code in job.", detail="empty")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return GateResult(f"the program is not UTF-8: {error}", detail="encoding")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        return GateResult(f"line {line}: the program has a NUL byte", detail="encoding")
    return data


def check(code: bytes, profile: Profile, pool: Submitting, *, compiled: bool = True) -> GateResult:
    """Compile a program in a cell, or only parse it if not `compiled`. Raises InfraFault."""
    program = Program(_LOOK + _SHOW % (profile.entry, compiled))
    done: Execution = pool.submit(lambda cell, _queued: cell.run(program, code, _LIMITS)).result()
    return _decoded(done.stdout) if done.ok else _killed(done)


def of(worked: DirectoryResult) -> GateResult:
    """Return the verdict on a program that was compiled before it was run. Raises InfraFault."""
    if worked.compiled is not None:
        return _decoded(worked.compiled)
    done = worked.execution
    by_itself = done.limit is None and done.signal is not None and not worked.stopped
    if by_itself or done.limit is LimitHit.MEMORY:
        return _killed(done)
    return GateResult(None)  # out of time, cancelled, or its files have no room


def _decoded(text: bytes) -> GateResult:
    try:
        return msgspec.json.decode(text, type=GateResult)
    except msgspec.DecodeError as error:
        raise InfraFault(f"a cell's answer on whether a program compiles: {error}") from error


def _killed(done: Execution) -> GateResult:
    how = f"limit {done.limit}" if done.limit else f"signal {done.signal}"
    return GateResult(f"the compiler does not survive it ({how})")


def advice(gated: GateResult, profile: Profile) -> list[str]:
    """Return warnings for the program's author; none of them stops the run."""
    if not profile.gate.imports:
        return []
    others = [name for name in gated.imports if name not in profile.gate.imports]
    listed = [
        f"it imports {name[:100]}, which the profile does not list"
        for name in others[:_MOST_ADVICE]
    ]
    more = max(0, len(others) - _MOST_ADVICE) + gated.more
    return [*listed, f"and {more} more that the profile does not list"] if more > 0 else listed
