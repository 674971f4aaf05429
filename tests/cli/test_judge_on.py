"""`proctor judge --on`: servers judge, a driver that is killed goes on from its results file."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, environment, proctor, write_rows

import proctor as package
from served import OWNERS, Served, noting, serving, serving_two
from waiting import PATIENCE, until

BUNDLED = Path(package.__file__).parent / "bundled"
PACKAGES = Path(__file__).parents[1] / "packages"
KILLS = 3
QUIET = ("--cells", "1", "--no-access-log")


@contextmanager
def started(place: Path) -> Iterator[tuple[list[Served], list[Path]]]:
    """Start two servers and the files in which they note what they judge."""
    place.mkdir()
    notes = [place / name for name in "ab"]
    with ExitStack() as stack:
        yield [stack.enter_context(serving(*QUIET, command=noting(n))) for n in notes], notes


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Served], list[Path]]]:
    with started(tmp_path_factory.mktemp("servers") / "notes") as both:
        yield both


def rows_of(out: Path) -> list[Any]:
    """The complete rows."""
    lines = out.read_bytes().splitlines(keepends=True) if out.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def noted(notes: list[Path]) -> list[int]:
    return [int(line) for each in notes if each.exists() for line in each.read_text().split()]


@pytest.mark.slow
def test_kill_9_of_the_driver(tmp_path: Path) -> None:
    """With new servers each time: old ones go on for a while with what the killed one asked for."""
    text = (BUNDLED / "programs.jsonl").read_text()
    programs = [json.loads(line) for line in text.splitlines() * 2]
    for number, row in enumerate(programs):
        row["code"] += f"\n# row {number}\n"
    out = tmp_path / "out.jsonl"
    command = [
        COMMAND, "judge", "--json", "--problems", str(BUNDLED / "problems.jsonl"), "--programs",
        str(write_rows(tmp_path / "programs.jsonl", programs)), "--out", str(out),
        "--timeout", "400ms", "--on",
    ]  # fmt: skip
    for kill in range(KILLS):
        finished = rows_of(out)
        with started(tmp_path / f"notes{kill}") as (servers, notes):
            asked = [*command, ",".join(each.url for each in servers)]
            with subprocess.Popen(asked, stdout=subprocess.PIPE, env=environment()) as driver:
                wanted = len(finished) + 3
                until(lambda: driver.poll() is not None or len(rows_of(out)) >= wanted)  # noqa: B023
                driver.kill()
        assert rows_of(out)[: len(finished)] == finished, "a finished row was lost or changed"
        assert noted(notes), "the servers noted nothing"
        again = set(noted(notes)) & {row["row"] for row in finished}
        assert not again, f"finished rows were judged again: {again}"
    assert len(rows_of(out)) < len(programs), "the kills came too late to show anything"
    with started(tmp_path / "notes") as (servers, _):
        done = subprocess.run(
            [*command, ",".join(each.url for each in servers)],
            capture_output=True, timeout=PATIENCE, check=False, env=environment(),
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    verdicts = {row["row"]: row["verdict"] for row in rows_of(out)}
    assert len(rows_of(out)) == len(verdicts) == len(programs)
    assert [verdicts[n] for n in range(len(programs))] == [
        row["label"]["standard"] for row in programs
    ]
    assert all(row["machine"]["cpu"] for row in rows_of(out) if row["verdict"] != "NC")


@pytest.mark.slow
@pytest.mark.compiler
def test_contest_problems_get_the_same_judgement(two: tuple[list[Served], list[Path]]) -> None:
    servers, _ = two
    place = PACKAGES / "guess"
    solution = min((place / "submissions" / "accepted").iterdir())
    asked = ["judge", place, solution, "--json"]
    here, there = proctor(*asked), proctor(*asked, "--on", servers[0].url)
    assert there.returncode == here.returncode == 0, there.stderr
    assert _facts(json.loads(there.stdout)) == _facts(json.loads(here.stdout))


def _facts(found: Any) -> Any:
    """What is judged, without times and where."""
    if isinstance(found, dict):
        kept = {
            "verdict",
            "score",
            "points",
            "name",
            "tests",
            "subtasks",
            "submissions",
            "judgement",
        }
        return {key: _facts(value) for key, value in found.items() if key in kept}
    return [_facts(each) for each in found] if isinstance(found, list) else found


def judged_on(where: str, tmp_path: Path, **env: str) -> tuple[int, str]:
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [json.loads((BUNDLED / "programs.jsonl").read_text().splitlines()[0])],
    )
    done = proctor(
        "judge", "--problems", BUNDLED / "problems.jsonl", "--programs", programs,
        "--on", where, env=env,
    )  # fmt: skip
    return done.returncode, done.stderr.decode()


@pytest.mark.slow
def test_a_wrong_token_and_the_right_one(tmp_path: Path) -> None:
    with serving_two(tmp_path, *QUIET) as served:
        code, said = judged_on(served.url, tmp_path, PROCTOR_TOKEN="wrong-" * 4)
        assert code == 2
        assert served.url in said
        assert "wrong-" not in said
        assert judged_on(served.url, tmp_path, PROCTOR_TOKEN=OWNERS["bob"])[0] == 0


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404)
        self.end_headers()
        self.wfile.write(b"<html>Not here</html>")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.slow
def test_what_is_no_proctor(tmp_path: Path) -> None:
    other = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{other.server_address[1]}"
        code, said = judged_on(url, tmp_path)
    finally:
        other.shutdown()
        other.server_close()
    assert code == 125
    assert url in said
    assert "not an answer of proctor's" in said
    for wrong in ("nonsense", "", f"@{tmp_path}/none"):
        code, said = judged_on(wrong, tmp_path)
        assert code == 2, said
        assert "Traceback" not in said


@pytest.mark.slow
def test_verdicts_of_servers_can_be_remembered(
    two: tuple[list[Served], list[Path]], tmp_path: Path
) -> None:
    servers, notes = two
    row = json.loads((BUNDLED / "programs.jsonl").read_text().splitlines()[0])
    row["code"] += "\n# row 4711\n"
    asked = [
        "judge", "--problems", BUNDLED / "problems.jsonl", "--programs",
        write_rows(tmp_path / "programs.jsonl", [row]), "--on", ",".join(s.url for s in servers),
        "--cache", tmp_path / "cache", "--json",
    ]  # fmt: skip
    first, again = proctor(*asked), proctor(*asked)
    assert (first.returncode, again.returncode) == (0, 0), again.stderr
    assert json.loads(again.stdout)["passed"] == json.loads(first.stdout)["passed"] == 1
    assert noted(notes).count(4711) == 1


def test_ctrl_c_says_where_it_goes_on(two: tuple[list[Served], list[Path]], tmp_path: Path) -> None:
    servers, _ = two
    row = json.loads((BUNDLED / "programs.jsonl").read_text().splitlines()[0])
    slow = {**row, "code": "while True: pass"}
    programs = write_rows(tmp_path / "programs.jsonl", [row, *[slow] * 50])
    out = tmp_path / "out.jsonl"
    command = [
        COMMAND, "judge", "--problems", str(BUNDLED / "problems.jsonl"), "--programs",
        str(programs), "--out", str(out), "--timeout", "60s", "--on", servers[0].url,
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment()) as driver:
        until(lambda: rows_of(out) or driver.poll() is not None)
        assert driver.poll() is None
        driver.send_signal(signal.SIGINT)
        _, said = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 130
    assert b"the same command goes on from there" in said
    assert len(rows_of(out)) == 1
