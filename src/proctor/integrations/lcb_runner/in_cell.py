"""Changes of a program's text, made in a cell: parsing some texts takes the process down."""

from importlib.resources import files

from proctor.integrations.pools import chosen_pool
from proctor.languages.run import run
from proctor.limits import Limits
from proctor.program import Program
from proctor.text import as_bytes

_LIMITS = Limits(cpu=10.0)
_TEXT = (files("proctor.cell") / "lcb_text.py").read_text("utf-8")
_MAIN = """
import sys
changed = {function}(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
sys.stdout.buffer.write(changed.encode("utf-8", "surrogatepass"))
"""


def changed(function: str, text: str) -> str | None:
    """Return a text as changed by a function of `proctor.cell.lcb_text`; None if that failed.

    Raises InputError for anything but text, InfraFault.
    """
    program = Program(_TEXT + _MAIN.format(function=function))
    done = run(program, as_bytes(text, "code"), limits=_LIMITS, pool=chosen_pool.get())
    return done.stdout.decode("utf-8", "surrogatepass") if done.ok else None
