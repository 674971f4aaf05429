"""Values that a forked child makes anew."""

import multiprocessing
import threading
from collections.abc import Callable

import pytest

import proctor
from proctor.languages.run import default_pool
from proctor.per_process import PerProcess

pytestmark = pytest.mark.user


def child_of(check: Callable[[], None]) -> int | None:
    child = multiprocessing.get_context("fork").Process(target=check)
    child.start()
    child.join()
    return child.exitcode


def test_a_value_for_each_key_until_it_will_not_do() -> None:
    unusable: list[object] = []
    values: PerProcess[object, str] = PerProcess(lambda _: object(), lambda it: it not in unusable)
    first = values.get("a")
    assert values.get("a") is first
    assert values.get("b") is not first
    unusable.append(first)
    assert values.get("a") is not first


def test_a_child_makes_its_own_though_its_parent_held_the_lock() -> None:
    values = PerProcess(threading.get_native_id)
    mine = values.get()
    making, done = threading.Event(), threading.Event()

    def slow() -> object:
        making.set()
        done.wait()
        return object()

    held: PerProcess[object] = PerProcess(slow)
    thread = threading.Thread(target=held.get)
    thread.start()
    making.wait()

    def check() -> None:
        assert values.get() != mine
        done.set()
        assert held.get() is not None

    try:
        assert child_of(check) == 0
    finally:
        done.set()
        thread.join()


def test_run_in_a_child_of_a_process_that_has_run() -> None:
    assert proctor.run("print(1)").stdout == b"1\n"
    mine = default_pool()

    def check() -> None:
        assert default_pool() is not mine
        assert proctor.run("print(2)").stdout == b"2\n"
        default_pool().close()

    assert child_of(check) == 0
    assert default_pool() is mine
