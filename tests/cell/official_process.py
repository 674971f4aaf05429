"""Plays programs in official mode, without a sandbox: forks of one driver, judged by the host.

The host's part (`judge.upstream`) makes of what comes back the report that lcb_runner would write.
"""

import base64
import json
import subprocess  # the tests play the part of the sandbox
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proctor.judgement import UpstreamReport
from proctor.judging.official import upstream
from proctor.problem import Test
from waiting import PATIENCE

_DRIVER = r"""
import base64, json, os, select, sys
from proctor.cell import lcb_io, lcb_load
from proctor.cell.lcb_process import Disguise

base = lcb_load.preamble()
leave, fork, kill, write = os._exit, os.fork, os.kill, os.write

def send(channel, *message):
    data = (json.dumps(message) + "\n").encode()
    while data:
        data = data[write(channel, data):]

def play(job, channel):
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    disguise = Disguise()
    disguise.preload(job["source"])
    disguise.put_on()
    try:
        program = lcb_load.load(job["source"], job["function"], base)
    except Exception as error:
        return send(channel, "load", str(error))
    for text in job["inputs"]:
        try:
            try:
                output = program.run(text)
            except lcb_io.HarnessFailure:
                raise
            except Exception as error:
                return send(channel, "raised", lcb_io.error_text(error))
        except lcb_io.HarnessFailure as error:
            return send(channel, "load", str(error))
        send(channel, "ok", base64.b64encode(output).decode())

def watch(job):
    reader, writer = os.pipe()
    child = fork()
    if not child:
        try:
            play(job, writer)
        finally:
            leave(0)
    os.close(writer)
    data = b""
    while select.select([reader], [], [], 3)[0]:
        chunk = os.read(reader, 1 << 16)
        data += chunk
        if not chunk:
            break
    else:
        data += b'["time"]\n'
    kill(child, 9)
    os.waitpid(child, 0)
    os.close(reader)
    return [json.loads(line) for line in data.splitlines()]

json.dump([watch(job) for job in json.load(sys.stdin)], sys.stdout)
"""


@dataclass(frozen=True)
class Quirk:
    """A program and what lcb_runner says of it."""

    name: str
    source: str
    results: list[bool | int]
    code: int | None = None
    text: str = ""
    """Part of the error message or of the exception's repr."""
    tests: tuple[tuple[str, str], ...] = (("2\n3\n", "5\n"), ("10\n20\n", "30\n"))
    function: str | None = None


WA, RE, TLE, DIED = -2, -4, -3, -5
PASS: list[bool | int] = [True, True]
ONE = (("2\n3\n", "5\n"),)


def play(quirks: Sequence[Quirk]) -> list[UpstreamReport]:
    """Run every program on its tests; takes some 10 ms each, and 3 s for each that never ends."""
    jobs = [
        {"source": one.source, "function": one.function, "inputs": [t[0] for t in one.tests]}
        for one in quirks
    ]
    done = subprocess.run(  # this interpreter, our own text
        [sys.executable, "-W", "ignore", "-c", _DRIVER],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return [_report(*pair) for pair in zip(quirks, json.loads(done.stdout), strict=True)]


def _report(quirk: Quirk, messages: list[list[Any]]) -> UpstreamReport:
    tests = [Test(*pair) for pair in quirk.tests]
    try:
        cases = upstream.parse_calls(tests) if quirk.function else upstream.stdio_cases(tests)
    except upstream.UnreadableTests as error:
        return upstream.load_failure(str(error))
    for number, case in enumerate(cases):
        kind, *rest = messages[number] if number < len(messages) else ["died"]
        if kind == "ok":
            output = base64.b64decode(rest[0])
            comparison = (
                upstream.judge_call(output, case)
                if quirk.function
                else upstream.judge_stdio(output, str(case.expected))
            )
            if not comparison.passed:
                return upstream.not_passed(number, case, comparison)
        elif kind == "raised":
            return upstream.runtime_error(number, case, rest[0])
        elif kind == "time":
            return upstream.time_limit(number, case)
        else:
            return upstream.load_failure(rest[0]) if kind == "load" else upstream.process_died()
    return upstream.all_passed(len(cases), 0.0)


def check(quirk: Quirk, report: UpstreamReport) -> None:
    """Assert that a report is what lcb_runner says."""
    told = f"{report.error_message} {report.metadata.get('error')}"
    assert list(report.results) == quirk.results, told
    assert [type(one) for one in report.results] == [type(one) for one in quirk.results]
    assert report.error_code == quirk.code
    assert quirk.text in told
