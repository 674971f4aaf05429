"""Compiles programs as official mode does, in a process of its own.

Meanwhile a limit of recursion is in force that is meant for a cell. In a test's own process it holds
for all threads: for the test, which waits with a deeper stack, and for those of pytest.
"""

import marshal
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from types import CodeType

from proctor.cell import lcb_load


def by_text(source: str) -> CodeType | None:
    return _compiled("_compile_indented", source)


def by_tree(source: str) -> CodeType | None:
    return _compiled("_compile_wrapped", source)


def _compiled(way: str, source: str) -> CodeType | None:
    found: CodeType | None = marshal.loads(_process().submit(_marshalled, way, source).result())
    return found


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _marshalled(way: str, source: str) -> bytes:
    compiled: Callable[[str], CodeType | None] = getattr(lcb_load, way)
    return marshal.dumps(compiled(source))
