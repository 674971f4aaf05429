"""A backend that notes every cell it opens: faults find them, and the census misses none."""

import threading

from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.cell import Cell


class Watched:
    """Stands before a real backend; a Backend itself."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.level = backend.level
        self.arrangement = backend.arrangement
        self.private_files = backend.private_files
        self.opened = 0
        self.users: set[int] = set()
        """Ids that were reserved for cells: nobody else's processes have them."""
        self.weaker: set[str] = set()
        """Cells that came up with other guarantees than the first one."""
        self._guarantees: object = None
        self._live: set[Cell] = set()
        self._lock = threading.Lock()

    def open_cell(self, setup: CellSetup, slot: int) -> Cell:
        cell = self._backend.open_cell(setup, slot)
        with self._lock:
            self.opened += 1
            self._live.add(cell)
            if self._guarantees is None:
                self._guarantees = cell.isolation.guarantees
            elif cell.isolation.guarantees != self._guarantees:
                self.weaker.add(str(dict(cell.isolation.guarantees)))
            if isinstance(cell, AgentProcess) and cell._user is not None:
                self.users |= {cell._user.guard, cell._user.job}
        closing = cell.close

        def close() -> None:
            with self._lock:
                self._live.discard(cell)
            closing()

        cell.close = close  # type: ignore[method-assign]
        return cell

    def live(self) -> list[Cell]:
        """Cells that are open now."""
        with self._lock:
            return list(self._live)
