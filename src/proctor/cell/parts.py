"""Parts that only jobs of some kinds need, loaded into an agent before the first of those.

Every job pays for the memory of the agent that it is forked from (see memory.py), and most cells
see one or two kinds.
"""

import gc
import sys
from types import ModuleType

from proctor.cell import python_job
from proctor.cell.wire import Kind

_NAMES: dict[int, str] = {
    Kind.SERVE_OFFICIAL: "official_job",
    Kind.COMMAND: "native_job",
    Kind.WORK: "directory_job",
    Kind.SCRIPT: "script_job",
}
_OFFICIAL = int(Kind.SERVE_OFFICIAL)


def _name(kind: int, called: int) -> str:
    return _NAMES.get(kind, "call_job" if called else "")


class Parts:
    """The modules that an agent has loaded for some kinds of jobs."""

    def __init__(self) -> None:
        self._ours: dict[str, ModuleType] = {}
        self._loaded: dict[str, ModuleType] = {}
        self._disguised = False
        self.forget()

    def get(self, kind: int, called: int) -> ModuleType | None:
        """Return the module for jobs of this kind, None if they need none or it is not loaded.

        `called` is 1 if the job has a function to call, else 0.
        """
        return self._loaded.get(_name(kind, called))

    def get_ready(self, kind: int, called: int) -> None:
        """Prepare for a job of this kind; `called` as for `get`.

        Official jobs are forked from an agent that has put lcb_runner's process state on: doing so
        after the fork costs 0.5 ms.
        """
        if self._disguised:
            self._loaded["official_job"].disguise.take_off()
            self._disguised = False
        name = _name(kind, called)
        if name and name not in self._loaded:
            self._load(name)
        if kind == _OFFICIAL:
            self._loaded[name].disguise.put_on()
            self._disguised = True

    def _load(self, name: str) -> None:
        sys.modules.update(self._ours)
        module = __import__(f"proctor.cell.{name}", fromlist=[name])
        if name == "official_job":
            module.rehearse()
        self._loaded[name] = module
        self.forget()
        sys.modules.setdefault("__main__", python_job.empty_main())  # for jobs that set none
        python_job.reseed(0)  # again, as in agent.py: what was just loaded may have drawn numbers
        gc.collect()
        gc.freeze()

    def forget(self) -> None:
        """Take proctor's modules out of the submission's sight: its own may have the same names."""
        for name in [name for name in sys.modules if name.split(".")[0] == "proctor"]:
            self._ours[name] = sys.modules.pop(name)
        sys.path_importer_cache.clear()
