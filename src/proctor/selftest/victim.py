"""A process on the host for attacks to aim at, run as the user that jobs run as."""

import os
import signal
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import ctypes, os, select, sys
uid, secret = int(sys.argv[1]), sys.argv[2].encode()
libc = ctypes.CDLL(None)
file = os.memfd_create("bait")
shared = os.open(os.__file__, os.O_RDONLY)
os.write(file, secret)
if uid != os.getuid():
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: as open to others as any process of that user
kept = ctypes.create_string_buffer(secret)
print(ctypes.addressof(kept), file, flush=True)
while not select.select([0], [], [], 0.05)[0]:  # something to be seen doing
    os.pread(shared, 1, 0)
"""

_KILLED = 1 << (signal.SIGKILL - 1)
_EXITING = 0x4  # PF_EXITING, of the flags in /proc/PID/stat


class Victim:
    """A sleeping process that keeps a secret in its memory, arguments, environment and a file."""

    def __init__(self, uid: int, secret: str, directory: str) -> None:
        """Start it. Raises OSError."""
        self.uid = uid
        self._process = subprocess.Popen(
            # It changes to the user by itself: the interpreter may lie where only root can read.
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(uid), secret],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"BAIT": secret}, cwd=directory, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        line = self._process.stdout.readline().split()
        if len(line) != 2:
            self.close()
            raise OSError(f"the bait process did not start as user {uid}")
        self.pid = self._process.pid
        self.address, self.descriptor = map(int, line)
        self._before = self._state()

    def harm(self) -> list[str]:
        """Describe what was done to the process since it started."""
        if self._dying():
            self._process.wait()
        if self._process.poll() is not None:
            return [f"the host's bait process was ended (status {self._process.returncode})"]
        now = self._state()
        return [
            f"{name} of the host's bait process was changed"
            for name, value in self._before.items()
            if now.get(name) != value
        ]

    def _dying(self) -> bool:
        """Return True if it has been killed, even if on a busy machine it has not ended yet."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return bool(self._pending() & _KILLED or int(stat[6]) & _EXITING)
        except OSError:
            return False

    def _pending(self) -> int:
        """Return the signals that it was sent and has not taken yet, a bit each. Raises OSError."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return int(status.get("SigPnd", "0"), 16) | int(status.get("ShdPnd", "0"), 16)

    def _state(self) -> dict[str, object]:
        proc = Path(f"/proc/{self.pid}")
        # Read before the state: a signal that is taken in between then shows in the state.
        pending = self._pending()
        return {
            "limits": (proc / "limits").read_text(),
            "priority": os.getpriority(os.PRIO_PROCESS, self.pid),
            "affinity": os.sched_getaffinity(self.pid),
            "scheduling": os.sched_getscheduler(self.pid),
            "killing order": (proc / "oom_score_adj").read_text(),
            # T: stopped, t: traced. On a busy machine it is stopped only once it has its turn.
            "state": pending or (proc / "stat").read_text().rpartition(") ")[2][0] in "Tt",
        }

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()
