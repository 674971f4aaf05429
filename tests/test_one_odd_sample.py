"""Thirteen programs, one of them odd: at every door twelve right results, and one for the odd one.

The odd ones say what no UTF-8 can hold, half of a surrogate pair, wherever a program can say
something: on its stdout, by a function's result, in the text of an exception, in its source.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import proctor
from cli.command import proctor as command
from cli.command import write_rows
from daemon_process import Spoken, speaking
from proctor import Judgement, JudgeSettings, Pool, Problem, Test
from proctor.compat import lcb_runner
from proctor.integrations.rewards import make_code_reward
from served import Served, serving

ODD_AT = 5
COUNT = 13
HALF = chr(0xD800)


@dataclass(frozen=True)
class Kind:
    """A problem, a program that solves it, and one that says half a character."""

    id: str
    tests: tuple[Test, ...]
    honest: str
    odd: str
    official: str
    standard: str
    """Verdicts of the odd one."""
    function: str | None = None

    @property
    def problem(self) -> Problem:
        return Problem(self.id, self.tests, self.function)

    def programs(self) -> list[str]:
        """Thirteen programs, no two the same."""
        found = [f"{self.honest}\n# {number}\n" for number in range(COUNT)]
        found[ODD_AT] = self.odd
        return found

    def wanted(self, mode: str) -> list[str]:
        verdicts = ["AC"] * COUNT
        verdicts[ODD_AT] = self.official if mode == "official" else self.standard
        return verdicts


STDIO = (Test("1\n", "2\n"), Test("21\n", "42\n"))
CALLS = (Test("1", '"2"'), Test("21", '"42"'))
ECHO = "print(2 * int(input()))"
CALL = "class Solution:\n    def f(self, n):\n        return str(2 * n)"


def call(what: str) -> str:
    return f"class Solution:\n    def f(self, n):\n        {what}\n"


KINDS = [
    # Standard mode has a real stdout, on which printing it raises UnicodeEncodeError.
    Kind("printed", STDIO, ECHO, r"print('\ud800')", "WA", "RE"),
    Kind("printed-late", STDIO, ECHO, r"print('2' if input() == '1' else '\udfff')", "WA", "RE"),
    Kind("bytes", STDIO, ECHO, r"import os; os.write(1, b'\xed\xa0\x80\xff')", "WA", "WA"),
    Kind("raised", STDIO, ECHO, r"raise ValueError('\ud800')", "RE", "RE"),
    Kind("not-loaded", STDIO, ECHO, r"class E(Exception):" "\n" r"    __str__ = __repr__ = lambda s: '\ud800'"
         "\nraise E", "RE", "RE"),
    Kind("said-last", STDIO, ECHO, r"import os; os.write(2, b'\xed\xa0\x80'); os._exit(1)", "RE", "RE"),
    Kind("returned", CALLS, CALL, call(r"return '\ud800'"), "WA", "WA", "f"),
    Kind("shown", CALLS, CALL, call(r"return type('T', (), {'__repr__': lambda s: '\ud800'})()"),
         "WA", "WA", "f"),
    Kind("keyed", CALLS, CALL, call(r"return {'\ud800': ['\udfff']}"), "WA", "WA", "f"),
    Kind("call-raised", CALLS, CALL, call(r"raise KeyError('\ud800')"), "RE", "RE", "f"),
]  # fmt: skip
