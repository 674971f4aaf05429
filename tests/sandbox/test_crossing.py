"""What crosses into containers and back: the same on the other side, or refused."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.execution import GUARANTEES, Execution, Guarantee, Isolation, LimitHit, Strength
from proctor.limits import MIB, Limits
from proctor.sandbox.cell import TestRun
from proctor.sandbox.clock import ContestClock, UpstreamClock
from proctor.sandbox.container import crossing, frames
from proctor.sandbox.container.frames import BadFrame, Fields, Frame
from waiting import PATIENCE

ISOLATION = Isolation("container", {})
positive = st.floats(min_value=1e-6, max_value=1e6)
count = st.integers(1, 1 << 40)
seconds = st.floats(min_value=0, max_value=1e9)
hits = st.none() | st.sampled_from(LimitHit)
code = st.none() | st.integers(0, 255)
number = st.none() | st.integers(1, 64)
text = st.none() | st.text(st.characters(codec="utf-8"))
memory = st.integers(4 * MIB, 1 << 40)
processes = st.integers(1, 1 << 22)
LIMITS = st.builds(
    Limits, positive, st.none() | positive, memory, count, processes, count, count,
)  # fmt: skip
EXECUTIONS = st.builds(
    Execution, code, number, st.binary(), st.binary(), seconds, seconds, count, st.just(0.0), hits,
    st.just(ISOLATION),
)  # fmt: skip
TEST_RUNS = st.builds(
    TestRun, code, number, st.binary(), st.binary(), st.binary(), text, text, seconds, seconds,
    count, hits,
)  # fmt: skip


def crossed(header: dict[str, Any], parts: list[bytes]) -> Frame:
    stream = io.BytesIO()
    frames.write(stream, header, parts)
    frame = frames.read(io.BytesIO(stream.getvalue()), [1 << 20] * 4)
    assert frame is not None
    return frame


@given(LIMITS)
def test_limits_cross(limits: Limits) -> None:
    header = crossed({"limits": crossing.limits_to_json(limits)}, []).header
    assert crossing.limits_from_json(Fields(header).object("limits")) == limits


@given(LIMITS.map(ContestClock) | positive.map(UpstreamClock))
def test_clocks_cross(clock: ContestClock | UpstreamClock) -> None:
    header = crossed({"clock": crossing.clock_to_json(clock)}, []).header
    assert crossing.clock_from_json(Fields(header).object("clock")) == clock


def test_how_long_clocks_run_at_most() -> None:
    assert crossing.longest(ContestClock(Limits(cpu=1.0))) == 60.0
    assert crossing.longest(ContestClock(Limits(cpu=10.0))) == 200.0
    assert crossing.longest(ContestClock(Limits(wall=0.5))) == 0.5
    assert crossing.longest(UpstreamClock(6.0)) == 120.0


@given(EXECUTIONS)
def test_executions_cross(execution: Execution) -> None:
    frame = crossed(crossing.facts_to_json(execution), [execution.stdout, execution.stderr])
    assert crossing.execution_from(frame, ISOLATION) == execution


@given(TEST_RUNS)
def test_tests_cross(run: TestRun) -> None:
    frame = crossed(crossing.facts_to_json(run), [run.stdout, run.stderr, run.result])
    assert crossing.test_run_from(frame) == run


def test_what_only_the_host_knows_is_not_taken_from_the_container() -> None:
    execution = Execution(0, None, b"", b"", 0.0, 0.0, 1, 5.0, None, Isolation("namespaces", {}))
    header = crossing.facts_to_json(execution)
    assert "isolation" not in header
    frame = Frame({**header, "queue": 5.0, "isolation": {"level": "namespaces"}}, (b"", b""))
    taken = crossing.execution_from(frame, ISOLATION)
    assert (taken.queue, taken.isolation) == (0.0, ISOLATION)


GOOD = {"exit_code": 0, "signal": None, "cpu": 0.1, "wall": 0.1, "memory": 1, "limit": None}


@pytest.mark.parametrize(
    "wrong",
    [
        {"exit_code": 256}, {"exit_code": -1}, {"exit_code": True}, {"exit_code": 0.0},
        {"signal": 65}, {"cpu": -1.0}, {"cpu": None}, {"cpu": "0"}, {"wall": 1e300},
        {"memory": 1.5}, {"memory": -1}, {"limit": "time"}, {"limit": 1},
    ],
    ids=str,
)  # fmt: skip
def test_facts_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadFrame):
        crossing.execution_from(Frame({**GOOD, **wrong}, (b"", b"")), ISOLATION)
    with pytest.raises(BadFrame):
        crossing.test_run_from(
            Frame({**GOOD, "raised": None, "harness_failure": None, **wrong}, (b"", b"", b""))
        )


def test_facts_with_other_payloads_than_theirs_are_refused() -> None:
    for parts in ((), (b"",), (b"", b"", b"")):
        with pytest.raises(BadFrame, match="payloads where 2"):
            crossing.execution_from(Frame(GOOD, parts), ISOLATION)


def held() -> dict[str, Any]:
    return {name: {"strength": "full", "how": "wall", "gap": ""} for name in GUARANTEES}


def test_guarantees_cross() -> None:
    given_ = {name: Guarantee(Strength.PARTIAL, name, "a gap") for name in GUARANTEES}
    header = crossed({"g": crossing.guarantees_to_json(given_)}, []).header
    assert crossing.guarantees_from_json(Fields(header).object("g")) == given_


@pytest.mark.parametrize(
    "spoil",
    [
        lambda g: g.pop("network"),
        lambda g: g.update(more=g["network"]),
        lambda g: g["network"].update(strength="total"),
        lambda g: g["network"].update(how=None),
        lambda g: g.update(network="full"),
    ],
)
def test_guarantees_that_are_not_ours_are_refused(spoil: Any) -> None:
    wrong = held()
    spoil(wrong)
    with pytest.raises(BadFrame):
        crossing.guarantees_from_json(Fields(wrong))


def test_the_fingerprint_is_of_the_code_and_not_of_line_ends(tmp_path: Path) -> None:
    copy = tmp_path / "proctor"
    for path in crossing.sources():
        target = copy / path.relative_to(crossing.PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert crossing.digest(copy) == crossing.digest()
    one = copy / "limits.py"
    one.write_bytes(one.read_bytes() + b"#")
    assert crossing.digest(copy) != crossing.digest()


def test_all_that_runs_in_a_container_is_among_what_goes_there(tmp_path: Path) -> None:
    """The program itself, started from a copy of just these files, gets as far as to listen."""
    import shutil
    import subprocess
    import sys

    for path in crossing.sources():
        target = tmp_path / "proctor" / path.relative_to(crossing.PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    imports = "import proctor.sandbox.container.inner as i; print(i.__file__)"
    modules = ""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c",
         f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {imports}{modules}"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.stdout == f"{tmp_path}/proctor/sandbox/container/inner.py\n", done.stderr


def test_headers_are_plain_json() -> None:
    execution = Execution(0, None, b"", b"", 0.0, 0.0, 1, 0.0, LimitHit.CPU, ISOLATION)
    assert json.loads(json.dumps(crossing.facts_to_json(execution)))["limit"] == "cpu"
