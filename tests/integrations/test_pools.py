"""Where the drop-ins judge."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from proctor.errors import UsageError
from proctor.integrations import lcb_runner, pools
from proctor.sandbox.pool import Pool


def test_use_pool(pool: Pool) -> None:
    lcb_runner.use_pool(pool)
    try:
        assert pools.chosen_pool.get() is pool
    finally:
        lcb_runner.use_pool(None)
    own = pools.chosen_pool.get()
    assert own is not pool
    assert pools.chosen_pool.get() is own


def test_a_closed_pool_of_our_own_is_replaced() -> None:
    kept = pools.ChosenPool()
    first = kept.get()
    first.close()
    second = kept.get()
    assert second is not first
    second.close()


def test_pool_of_a_parent(pool: Pool) -> None:
    kept = pools.ChosenPool()
    kept.use(pool)

    def in_child() -> None:
        with pytest.raises(UsageError, match="before this process was forked"):
            kept.get()
        kept.use(None)
        assert kept.get() is not pool
        kept.get().close()

    child = multiprocessing.get_context("fork").Process(target=in_child)
    child.start()
    child.join()
    assert child.exitcode == 0


def test_numpy_is_found_where_it_is() -> None:
    assert pools.beside_numpy() == (str(Path(np.__file__).parents[1]),)


def test_without_numpy_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "find_spec", lambda _: None)
    assert pools.beside_numpy() == ()
