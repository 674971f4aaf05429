"""What a program must be before it is run: text of bounded size that compiles.

Compiled in a cell: CPython's compiler can be made to crash, or to use up memory. What it imports is
looked at for advice to whoever wrote it; the sandbox is what holds it.
"""

from dataclasses import replace

import msgspec

from proctor.execution import Execution
from proctor.limits import GIB, MIB, Limits
from proctor.program import Program
from proctor.sandbox.cancellation import Submitting
from proctor.solver.profile import Profile

MODULES = ("ast",)
"""What cells should have imported for it."""
_TOLD = 20
_LIMITS = Limits(cpu=10.0, memory=GIB, output=4 * MIB)
_SHOW = 'print(json.dumps({"ok": error is None, "error": error, "imports": sorted(imports)}))'
_CHECK = f"""
import ast, json, sys, warnings
warnings.simplefilter("ignore")
source, error, imports = sys.stdin.buffer.read(), None, set()
try:
    tree = ast.parse(source, "%s")
    if %s:
        compile(source, "%s", "exec", dont_inherit=True)
except (SyntaxError, ValueError, RecursionError, MemoryError) as caught:
    error = type(caught).__name__ + ": " + (str(caught) or "nested too deep")
else:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {{each.name.split(".")[0] for each in node.names}}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports.add(node.module.split(".")[0])
{_SHOW}
"""


class Gated(msgspec.Struct, frozen=True):
    """Whether a program may be run."""

    ok: bool
    error: str | None
    imports: tuple[str, ...] = ()
    """Top-level modules that it names."""
    detail: str = "syntax"
    """A word for why not."""


def size(code: str | bytes, profile: Profile) -> Gated | bytes:
    """Return the program's bytes, or why they cannot be a program."""
    data = code.encode("utf-8", "surrogatepass") if isinstance(code, str) else code
    most = profile.gate.max_bytes
    if len(data) > most:
        return Gated(False, f"the program has {len(data)} bytes, more than {most}", (), "too_large")
    if not data.strip():
        return Gated(False, "No code in job.", (), "empty")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Gated(False, f"the program is not UTF-8: {error}", (), "encoding")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        return Gated(False, f"line {line}: the program has a NUL byte", (), "encoding")
    return data


def check(
    code: bytes, profile: Profile, pool: Submitting, *, disk: int = 0, compiled: bool = True
) -> Gated:
    """Compile a program in a cell, or (`compiled` False) only parse it. Raises InfraFault.

    `disk`: what the program will be given; a container is started for so much.
    """
    program = Program(_CHECK % (profile.entry, compiled, profile.entry))
    limits = replace(_LIMITS, disk=disk)
    done: Execution = pool.submit(lambda cell, _queued: cell.run(program, code, limits)).result()
    if not done.ok:
        how = f"limit {done.limit}" if done.limit else f"signal {done.signal}"
        return Gated(False, f"the compiler does not survive it ({how})")
    return msgspec.json.decode(done.stdout, type=Gated)


def advice(gated: Gated, profile: Profile) -> list[str]:
    """Return what to tell whoever wrote it; none of it stops it."""
    if not profile.gate.imports:
        return []
    others = [name for name in gated.imports if name not in profile.gate.imports]
    told = [f"it imports {name[:100]}, which the profile does not list" for name in others[:_TOLD]]
    more = len(others) - _TOLD
    return [*told, f"and {more} more that the profile does not list"] if more > 0 else told
