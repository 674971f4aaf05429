"""A cell that nothing boxes must prove that all it can signal is its own. Ends: sandbox/unboxed."""

import os
from typing import Any

import pytest

from proctor.cell import _lockdown, keeper

pytestmark = pytest.mark.user


def config(**more: Any) -> dict[str, Any]:
    return {"uid": None, "guard": None, "outside": [], **more}


def test_who_can_signal_a_stranger_does_not_go_on() -> None:
    stranger = os.getppid() if os.geteuid() == 0 else os.getpid()
    with pytest.raises(keeper.NotContained, match=f"process {stranger}, .* could be signalled"):
        keeper.drop(config(outside=[stranger]))


def test_one_that_is_gone_proves_nothing() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(ProcessLookupError):
        keeper.drop(config(outside=[pid]))


def test_without_scopes_it_takes_users_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(_lockdown, "landlock_scope", refuse)
    with pytest.raises(keeper.NotContained, match="needs Linux 6.12 .*, or root with CAP_SETUID"):
        keeper._scope(config())
    keeper._scope(config(uid=0x70000001, guard=0x70000000))
