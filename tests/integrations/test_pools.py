"""Where the drop-ins judge."""

from pathlib import Path

import numpy as np
import pytest

from proctor.errors import UsageError
from proctor.integrations import lcb_runner, pools
from proctor.sandbox.pool import Pool


def test_use_pool(pool: Pool) -> None:
    lcb_runner.use_pool(pool)
    try:
        assert pools.pools.get() is pool
    finally:
        lcb_runner.use_pool(None)
    own = pools.pools.get()
    assert own is not pool
    assert pools.pools.get() is own


def test_a_closed_pool_of_our_own_is_replaced() -> None:
    kept = pools.Pools()
    first = kept.get()
    first.close()
    second = kept.get()
    assert second is not first
    second.close()


def test_pool_of_a_parent(pool: Pool) -> None:
    kept = pools.Pools()
    kept.use(pool)
    kept.after_fork()
    with pytest.raises(UsageError, match="before this process was forked"):
        kept.get()
    kept.use(pool)
    assert kept.get() is pool


def test_numpy_is_found_where_it_is() -> None:
    assert pools.beside_numpy() == (str(Path(np.__file__).parents[1]),)


def test_without_numpy_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "find_spec", lambda _: None)
    assert pools.beside_numpy() == ()
