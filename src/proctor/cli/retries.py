"""Notes on requests that are sent again, one for each cause."""

import logging

from proctor.cli import terminal

_LONGEST = 200


def tell_once() -> None:
    """Replace stamina's log of requests sent again, in this process, by one note for each cause."""
    logger = logging.getLogger("stamina")
    if not any(isinstance(each, _OncePerCause) for each in logger.filters):
        logger.addFilter(_OncePerCause())


class _OncePerCause(logging.Filter):
    """Writes one note for each cause, in place of all records of it."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for records of retries, True for all others."""
        cause = getattr(record, "stamina.caused_by", None)
        if cause is None:
            return True
        said = " ".join(str(cause).split())[:_LONGEST]
        if said not in self._told:
            self._told.add(said)
            terminal.note(f"trying again: {said}")
        return False
