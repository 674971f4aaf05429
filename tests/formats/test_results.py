"""Durable results: kill anywhere, open again, lose nothing and repeat nothing."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.execution import Guarantee, Isolation, Strength
from proctor.formats.programs import SubmittedProgram
from proctor.formats.results import (
    RESERVED,
    Digests,
    ResultsFile,
    judgement_row,
    read_results,
)
from proctor.formats.sidecar import SETTINGS_SUFFIX, Origin, Sidecar
from proctor.judgement import Judgement, TestResult, UpstreamReport
from proctor.problem import Problem
from proctor.problem import Test as Case
from proctor.verdict import Verdict

SETTINGS = {"mode": "standard", "cpu": 10.0, "limits": {"memory": 1}}


def result(number: int, **fields: Any) -> dict[str, Any]:
    return {"row": number, "question_id": "a", "verdict": "AC", "digest": f"d{number}"} | fields


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def begun(path: Path, *rows: dict[str, Any]) -> Path:
    with ResultsFile(path, SETTINGS) as results:
        results.append_many(rows)
    return path


def sidecar(path: Path) -> Path:
    return path.with_name(path.name + SETTINGS_SUFFIX)


def test_rows_are_there_after_opening_again(path: Path) -> None:
    with ResultsFile(path, SETTINGS) as results:
        assert results.finished == {}
        results.append(result(3))
        results.append_many([result(0), result(1)])
        results.append_many([])
        assert results.finished == {3: "d3", 0: "d0", 1: "d1"}
    with ResultsFile(path, SETTINGS) as results:
        assert results.finished == {3: "d3", 0: "d0", 1: "d1"}
        assert results.is_finished(3, "d3")
        assert not results.is_finished(2, "d2")
        results.append(result(2))
    assert list(read_results(path)) == [result(3), result(0), result(1), result(2)]
    assert Sidecar.of(path).settings == SETTINGS
    assert {file.name for file in path.parent.iterdir()} == {path.name, sidecar(path).name}


def test_a_row_is_on_disk_when_append_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = []
    write, fsync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda fd, data: (events.append("write"), write(fd, data))[1])
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("fsync"), fsync(fd))[1])
    with ResultsFile(path, SETTINGS) as results:
        events.clear()
        results.append(result(0))
        assert events == ["write", "fsync"]
        results.append_many(map(result, range(1, 9)))
        assert events == ["write", "fsync"] * 2


def test_cut_at_every_byte_and_resumed(path: Path, tmp_path: Path) -> None:
    whole = begun(path, *map(result, range(4))).read_bytes()
    copy = tmp_path / "copy.jsonl"
    shutil.copy(sidecar(path), sidecar(copy))
    for size in range(len(whole) + 1):
        copy.write_bytes(whole[:size])
        complete = whole[:size].count(b"\n")
        assert len(list(read_results(copy))) == complete
        with ResultsFile(copy, SETTINGS) as results:
            assert sorted(results.finished) == list(range(complete))
            for number in range(4):
                if not results.is_finished(number, f"d{number}"):
                    results.append(result(number))
        assert copy.read_bytes() == whole


WRITER = """
import json, sys
from pathlib import Path
from proctor.formats.results import ResultsFile
with ResultsFile(Path(sys.argv[1]), {"mode": "standard"}) as results:
    row = max(results.finished, default=-1) + 1
    while True:
        results.append({"row": row, "digest": "d", "padding": "x" * 5000})
        print(row, flush=True)
        row += 1
"""


@pytest.fixture
def writer_command(path: Path) -> list[str]:
    return [sys.executable, "-c", WRITER, str(path)]


def test_kill_minus_nine_loses_nothing_that_was_shown(
    path: Path, writer_command: list[str]
) -> None:
    shown = -1
    for rows_before_kill in (1, 17, 40):
        with subprocess.Popen(writer_command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(rows_before_kill):
                shown = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            shown = max([shown, *map(int, writer.stdout.read().split())])
        with ResultsFile(path, {"mode": "standard"}) as results:
            # The row in flight may be there as well; nothing else.
            assert list(results.finished) in (
                list(range(shown + 1)),
                list(range(shown + 2)),
            )
    assert [row["row"] for row in read_results(path)] == list(results.finished)


def test_two_at_once_are_told_apart(path: Path, writer_command: list[str]) -> None:
    with subprocess.Popen(writer_command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(InputError, match="another proctor is writing to it"):
            ResultsFile(path, {"mode": "standard"})
        writer.kill()
    ResultsFile(path, {"mode": "standard"}).close()


def test_a_failed_opening_gives_up_the_lock(path: Path) -> None:
    begun(path, result(0))
    with pytest.raises(SettingsError):
        ResultsFile(path, {})
    begun(path, result(1))


def test_other_settings_are_refused_by_name(path: Path) -> None:
    before = begun(path, result(0)).read_bytes()
    path.write_bytes(before + b'{"half')
    other = {"mode": "official", "limits": {"memory": 1}, "fast": True}
    with pytest.raises(SettingsError) as caught:
        ResultsFile(path, other)
    message = str(caught.value)
    assert "cpu: was 10.0, is now not set" in message
    assert "fast: was not set, is now true" in message
    assert 'mode: was "standard", is now "official"' in message
    assert "limits" not in message
    assert "another output file" in message
    assert path.read_bytes() == before + b'{"half', "touched a file that was not ours"


def test_settings_of_an_empty_file_bind_nobody(path: Path) -> None:
    begun(path)
    with ResultsFile(path, {"mode": "official"}) as results:
        results.append(result(0))
    assert Sidecar.of(path).settings == {"mode": "official"}


def strangers(path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> bytes:
    """Begin a results file with another key; return what it holds."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home))
        begun(path, result(0))
    return path.read_bytes()


def test_rows_that_another_began_do_not_count(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = strangers(path, monkeypatch, tmp_path / "stranger")
    for settings in (SETTINGS, {"mode": "official"}):
        with pytest.raises(SettingsError, match=r"not begun by you.*--trust-rows") as caught:
            ResultsFile(path, settings)
        assert "cpu" not in str(caught.value), "told what a stranger wrote"
    assert path.read_bytes() == before
    for _ in range(2):  # going on with it once does not make its rows one's own
        with ResultsFile(path, SETTINGS, origin(), trust_rows=True) as results:
            assert results.finished == {0: "d0"}
        with pytest.raises(SettingsError, match="not begun by you"):
            ResultsFile(path, SETTINGS, origin())


def test_settings_that_another_changed_are_not_ones_own(path: Path) -> None:
    begun(path, result(0))
    there = json.loads(sidecar(path).read_text())
    sidecar(path).write_text(json.dumps(there | {"cpu": 11.0}))
    with pytest.raises(SettingsError, match="not begun by you"):
        ResultsFile(path, SETTINGS | {"cpu": 11.0})


def test_rows_of_an_earlier_version_count_if_their_origins_are_ones_own(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ResultsFile(path, SETTINGS, origin()) as results:
        results.append(result(0))
    there = json.loads(sidecar(path).read_text())
    sidecar(path).write_text(
        json.dumps({name: each for name, each in there.items() if name != "signatures"})
    )
    with ResultsFile(path, SETTINGS, origin()) as results:
        assert results.finished == {0: "d0"}
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    with pytest.raises(SettingsError, match="not begun by you"):
        ResultsFile(path, SETTINGS, origin())


def origin() -> Origin:
    return Origin.of({}, {}, {}, {})


def test_long_settings_are_shown_in_part(path: Path) -> None:
    with ResultsFile(path, {"packages": ["x" * 1000]}) as results:
        results.append(result(0))
    with pytest.raises(SettingsError) as caught:
        ResultsFile(path, {"packages": []})
    assert "x" * 50 in str(caught.value)
    assert "x" * 100 not in str(caught.value)


def test_links_are_neither_written_to_nor_read(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious, without a newline")
    path.symlink_to(elsewhere)
    with pytest.raises(InputError, match="is a link"):
        ResultsFile(path, SETTINGS)
    path.unlink()
    begun(path, result(0))
    sidecar(path).replace(elsewhere)
    sidecar(path).symlink_to(elsewhere)
    before = elsewhere.read_text()
    with pytest.raises(InputError, match="it is a link"):
        ResultsFile(path, SETTINGS)
    with pytest.raises(InputError, match="it is a link"):
        Sidecar.of(path)
    assert elsewhere.read_text() == before


def test_order_and_container_of_settings_do_not_matter(path: Path) -> None:
    with ResultsFile(path, {"a": (1, 2), "b": 1}) as results:
        results.append(result(0))
    ResultsFile(path, {"b": 1, "a": [1, 2]}).close()
    with pytest.raises(SettingsError, match=r"b: was 1, is now true"):
        ResultsFile(path, {"b": True, "a": [1, 2]})


def test_content_without_settings_is_refused_untouched(path: Path) -> None:
    path.write_bytes(b"somebody's only copy, without a newline")
    with pytest.raises(SettingsError, match=r"no results\.jsonl\.settings\.json beside it"):
        ResultsFile(path, SETTINGS)
    assert path.read_bytes() == b"somebody's only copy, without a newline"


def test_broken_settings(path: Path) -> None:
    begun(path, result(0))
    sidecar(path).write_text("{")
    with pytest.raises(InputError, match=r"settings\.json: cannot be read as settings"):
        ResultsFile(path, SETTINGS)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("half", "is not a result row"),
        ("\0" * 20, "is not a result row"),
        ("{}", "missing required field `row`"),
        ('{"row": 1}', "missing required field `digest`"),
        ('{"row": true, "digest": ""}', "got `bool`"),
        ('{"row": 0, "digest": "d0"}', "row 0 is there twice"),
    ],
)
def test_a_broken_line_in_the_middle(path: Path, line: str, words: str) -> None:
    text = begun(path, result(0), result(2)).read_text().splitlines()
    broken = "\n".join([text[0], line, text[1], "half"])
    path.write_text(broken)
    with pytest.raises(InputError) as caught:
        ResultsFile(path, SETTINGS)
    assert caught.value.line == 2
    assert words in str(caught.value)
    assert path.read_text() == broken


def test_a_row_of_another_program_is_refused(path: Path) -> None:
    problem = Problem("a", (Case("1", "2"),))
    with ResultsFile(path, SETTINGS) as results:
        results.append(result(0, digest=Digests(SETTINGS).of(problem, "print(2)")))
    with ResultsFile(path, SETTINGS) as results:
        assert results.is_finished(0, Digests(SETTINGS).of(problem, "print(2)"))
        with pytest.raises(SettingsError, match=r"row 0 of .* another program"):
            results.is_finished(0, Digests(SETTINGS).of(problem, "print(3)"))


def test_the_same_row_twice_is_refused(path: Path) -> None:
    with ResultsFile(path, SETTINGS) as results:
        results.append(result(0))
        with pytest.raises(InputError, match="row 0 is there already"):
            results.append(result(0))
        with pytest.raises(InputError, match="row 1 is there already"):
            results.append_many([result(1), result(1)])
    assert len(list(read_results(path))) == 1


def test_a_full_disk_leaves_no_half_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_write = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) < 10:
            raise OSError(28, "No space left on device")
        return real_write(fd, data[: len(data) - 5])

    with ResultsFile(path, SETTINGS) as results:
        results.append(result(0))
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with pytest.raises(InfraFault, match="No space left on device"):
                results.append(result(1))
        assert 1 not in results.finished
        results.append(result(1))
    assert list(read_results(path)) == [result(0), result(1)]


def test_values_that_json_does_not_know(path: Path) -> None:
    odd = result(0, text="\ud800", ratio=math.nan, big=10**30, deep=[{"x": math.inf}])
    with ResultsFile(path, SETTINGS) as results:
        results.append(odd)
    with ResultsFile(path, SETTINGS) as results:
        assert results.finished == {0: "d0"}
    assert list(read_results(path)) == [odd | {"ratio": None, "deep": [{"x": None}]}]


def test_files_that_cannot_hold_results(tmp_path: Path) -> None:
    for place, words in (
        (tmp_path / "absent" / "r.jsonl", "there is no directory"),
        (tmp_path, "directory"),
        (Path("/dev/null"), "not a regular file"),
    ):
        with pytest.raises(InputError, match=words):
            ResultsFile(place, SETTINGS)
    with pytest.raises(InputError, match="No such file"):
        list(read_results(tmp_path / "absent"))


def test_the_digest_depends_on_all_that_decides() -> None:
    problem = Problem("a", (Case("1", "2"), Case("3", "4")), title="T")

    def digest(problem: Problem, code: str, settings: dict[str, Any]) -> str:
        return Digests(settings).of(problem, code)

    base = digest(problem, "x", {"m": 1, "n": 2})
    assert base == digest(problem, "x", {"n": 2, "m": 1})
    assert base == digest(
        Problem("a", (Case("1", "2", public=True), Case("3", "4"))), "x", {"m": 1, "n": 2}
    )
    others = [
        (Problem("b", problem.tests), "x", {"m": 1, "n": 2}),
        (Problem("a", problem.tests, function="f"), "x", {"m": 1, "n": 2}),
        (Problem("a", problem.tests[:1]), "x", {"m": 1, "n": 2}),
        (Problem("a", (Case("12", ""), Case("3", "4"))), "x", {"m": 1, "n": 2}),
        (problem, "y\ud800", {"m": 1, "n": 2}),
        (problem, "x", {"m": 1, "n": 3}),
    ]
    assert len({base, *(digest(*other) for other in others)}) == 1 + len(others)


def test_the_row_of_a_judgement() -> None:
    judgement = Judgement(
        Verdict.WA,
        0.5,
        (TestResult(Verdict.AC, 0.0123456789, 0.5, 7), TestResult(Verdict.WA, 1, 2, 8, "differs")),
        message="test 2: differs",
        isolation=Isolation("namespaces", {"network": Guarantee(Strength.FULL, "own namespace")}),
    )
    submission = SubmittedProgram(4, "a", 1, "x", {"model": "m", "passed": True, "metadata": 3})
    assert judgement_row(submission, judgement, digest="d") == {
        "row": 4,
        "question_id": "a",
        "index": 1,
        "verdict": "WA",
        "passed": False,
        "score": 0.5,
        "message": "test 2: differs",
        "tests": [
            {"verdict": "AC", "cpu": 0.012346, "wall": 0.5, "memory": 7},
            {"verdict": "WA", "cpu": 1, "wall": 2, "memory": 8, "message": "differs"},
        ],
        "isolation": {"level": "namespaces", "guarantees": {"network": "own namespace"}},
        "digest": "d",
        "model": "m",
        "extra": {"passed": True, "metadata": 3},
    }


def test_the_row_in_official_mode() -> None:
    upstream = UpstreamReport((True, -2), -2, "Wrong Answer", {"error_code": -2})
    judgement = Judgement(Verdict.WA, 0.5, (), upstream=upstream)
    row = judgement_row(SubmittedProgram(0, "a", 0, ""), judgement, digest="d")
    assert row["results"] == [True, -2]
    assert (row["error_code"], row["error_message"]) == (-2, "Wrong Answer")
    assert row["metadata"] == {"error_code": -2}
    assert row["isolation"] is None
    assert row.keys() <= RESERVED
    json.dumps(row)


def test_results_are_their_owners_alone(path: Path) -> None:
    """Another user who can open a file can lock it, and stop whoever goes on with it."""
    before = os.umask(0)
    try:
        begun(path, result(0))
        assert {each.stat().st_mode & 0o777 for each in (path, sidecar(path))} == {0o600}
        path.chmod(0o664)
        ResultsFile(path, SETTINGS).close()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_rows_that_are_nested_too_deeply(path: Path) -> None:
    for depth in (*range(900, 1010), 100_000):
        path.write_text('{"row": 0, "digest": "d", "x": ' + "[" * depth + "]" * depth + "}\n")
        with suppress(InputError):
            assert len(list(read_results(path))) == 1
