"""How cells without namespaces (see conftest.py) end."""

import os
import signal
from pathlib import Path

import pytest
from cells import Driver, Watch

from waiting import until

pytestmark = [pytest.mark.usefixtures("unharmed"), pytest.mark.sampled(2)]


# Something of a job's that ignores what it can, and is its own session's.
STUBBORN = (
    "import os, signal, time\n"
    "for number in range(1, 65):\n"
    "    try: signal.signal(number, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork(): os._exit(0)\n"
    "else:\n"
    "    try: os.wait()\n"
    "    except ChildProcessError: pass\n"
    "time.sleep(1000)\n"
)


def parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it ended before, or while we read
        return 0
    return int(stat.rpartition(") ")[2].split()[1])


class TestEnds:
    """Whoever ends, in whichever order: nothing of the cell stays."""

    def _busy(self, driver: Driver) -> tuple[list[int], Watch]:
        """Start a job with a daemon; return the cell's own processes, and watch all of them."""
        driver.ask("start", source=STUBBORN)
        return self._settled(driver)

    def _settled(self, driver: Driver) -> tuple[list[int], Watch]:
        def settled() -> tuple[list[int], list[int]] | None:
            found = driver.ask("pids")
            own, job = found["own"], found["job"]
            # The job, and the daemon whose first parent is gone.
            there = len(job) == 2 and all(parent(pid) == own[-1] for pid in job)
            return (own, job) if there else None

        own, job = until(settled)
        return own, Watch([*own, *job])

    def test_the_host_by_force(self, fresh: Driver) -> None:
        _, watch = self._busy(fresh)
        fresh.kill()
        assert watch.gone()

    def test_the_host_in_order(self, fresh: Driver) -> None:
        _, watch = self._busy(fresh)
        fresh.ask("close")
        assert watch.gone()

    def test_the_agent(self, fresh: Driver) -> None:
        """The job is tried once more in a fresh cell; one that dies too is nobody's verdict."""
        own, watch = self._busy(fresh)
        os.kill(own[-1], signal.SIGKILL)
        assert watch.gone()
        other, watch = self._settled(fresh)
        assert set(other).isdisjoint(own)
        os.kill(other[-1], signal.SIGKILL)
        assert watch.gone()
        assert fresh.ask("finish")["error"] in ("CellDied", "InfraFault")
        assert fresh.run("print('next')")["stdout"] == "next\n"

    def test_the_keeper(self, fresh: Driver) -> None:
        own, watch = self._busy(fresh)
        os.kill(own[0], signal.SIGKILL)
        fresh.ask("close")
        assert watch.gone()

    def test_the_keeper_and_then_the_host(self, fresh: Driver) -> None:
        own, watch = self._busy(fresh)
        os.kill(own[0], signal.SIGKILL)
        fresh.kill()
        assert watch.gone()

    def test_both(self, way: str, fresh: Driver) -> None:
        """Each would have ended the job; now it is found in its group, or ends with its box."""
        if way in ("own users", "scopes"):
            pytest.skip(
                "no case: a known gap, without a control group nobody is left who knows the job"
            )
        own, watch = self._busy(fresh)
        os.kill(own[0], signal.SIGSTOP)  # so that it cannot act on the other's end
        os.kill(own[-1], signal.SIGKILL)
        os.kill(own[0], signal.SIGKILL)
        fresh.ask("close")
        assert watch.gone()
