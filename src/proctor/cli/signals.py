"""Signals that end a command."""

import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heeded() -> list[signal.Signals]:
    """Return Ctrl-C's, SIGTERM and that of a closed terminal, but for those that nohup has set."""
    return [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
