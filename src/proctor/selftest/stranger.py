"""Strangers to proctor itself, who hand it files, answers or messages, or use the same machine.

Such an attack is a program of proctor's own that plays the stranger against this installation,
with the libraries that it has. It runs on the host, in a process and a directory of its own: this
module, run as a program. It finds the names `found`, `attempt`, `refused`,
`leave_out`, `finish`, and `HERE`, its directory.
"""

import contextlib
import os
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from proctor.errors import ProctorError
from proctor.limits import MIB
from proctor.selftest.attack import Attack
from proctor.selftest.report import AttackOutcome, AttackStatus

_WALL = 120.0
"""Seconds until a stranger that is still busy has held proctor up."""
_MOST_MEMORY = 1024 * MIB
"""Bytes of memory that proctor may come to need for what it is sent."""
_ADDRESSES = 8192 * MIB
"""Bytes of address space, which end a proctor that takes whatever it is sent."""
_FILE = "attack.py"
_KNOWN = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV")


def carry_out(attack: Attack) -> AttackOutcome:
    """Run one attack of kind host, and return what came of it."""
    began = time.monotonic()
    environment = {name: os.environ[name] for name in _KNOWN if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="proctor-selftest-") as home:
        (Path(home) / _FILE).write_text(attack.parts[0], "utf-8")
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __spec__.name],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=home,
            env={**environment, "HOME": home, "TMPDIR": home}, start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=_WALL)
            status, happened = _read(output.decode("utf-8", "replace"), process.returncode)
        except subprocess.TimeoutExpired:
            status = AttackStatus.THROUGH
            happened = f"proctor was held up: it has not ended within {_WALL:g} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return AttackOutcome(attack, status, happened, wall=time.monotonic() - began)


def _read(output: str, code: int) -> tuple[AttackStatus, str]:
    """Return what the last line says, the end of the process considered."""
    last = output.strip().rpartition("\n")[2]
    word, _, rest = last.partition(": ")
    if word == AttackStatus.THROUGH:
        return AttackStatus.THROUGH, rest
    if word == AttackStatus.NOT_RUN and code == 0:
        return AttackStatus.NOT_RUN, rest
    if word == AttackStatus.HELD and code == 0:
        return AttackStatus.HELD, last
    return AttackStatus.THROUGH, f"it ended with code {code}: {last[-300:]}"


found: list[str] = []
"""Descriptions of what got through; for attacks to add to."""


def attempt(what: str, action: Callable[..., object], *arguments: Any) -> None:
    """Do something that must fail for want of rights, and note it if it works."""
    with contextlib.suppress(OSError):
        action(*arguments)
        found.append(what)


def refused(what: str, action: Callable[..., object], *arguments: Any, how: str = "") -> None:
    """Do what proctor must refuse in its own words, which hold `how`; note what it does instead."""
    try:
        made = action(*arguments)
    except ProctorError as error:
        if how not in str(error):
            found.append(f"{what}: says {str(error)[:200]!r}")
    except Exception as error:  # noqa: BLE001 - an error that is not proctor's is what is looked for
        found.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")
    else:
        found.append(f"{what}: {str(made)[:100]!r} was accepted")


def finish(note: str = "") -> None:
    """Say what came of it."""
    peak = _peak_memory()
    if peak > _MOST_MEMORY:
        found.append(f"it took {peak / MIB:.0f} MiB of memory")
    said = "through: " + "; ".join(found) if found else f"held: {note}" if note else "held"
    sys.stdout.write(said.replace("\n", " ")[:2000] + "\n")


def _peak_memory() -> int:
    """Return the most bytes of memory that this process has held since it was executed.

    `ru_maxrss` would begin with what the process held that started it.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10  # where it is not told


def leave_out(reason: str) -> NoReturn:
    """Say that this stranger cannot be played here, and end."""
    sys.stdout.write(f"{AttackStatus.NOT_RUN}: {reason}\n")
    sys.stdout.flush()
    os._exit(0)


def main() -> None:
    """Play the stranger whose program lies in the working directory."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    here = Path.cwd()
    names = {
        "found": found, "attempt": attempt, "refused": refused, "finish": finish,
        "leave_out": leave_out, "HERE": here,
    }  # fmt: skip
    runpy.run_path(str(here / _FILE), names)


if __name__ == "__main__":
    main()
