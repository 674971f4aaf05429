"""Many instances for one program: scores, stages, references that no program sees, what is kept."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as fuzzed
from hypothesis import strategies as st

from proctor.errors import Cancelled, InputError
from proctor.sandbox.stop import Stop
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope, Fault
from proctor.solver.host import SolverHost
from proctor.solver.instances import (
    InstanceResult,
    SolverInstance,
    closeness,
    read_instances,
    scored,
)
from proctor.solver.solve import solve
from proctor.solver.solve_instances import solve_instances
from sums import RIGHT, profile_in


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> profiles.Profile:
    return profile_in(tmp_path_factory.mktemp("sums"))


@pytest.fixture(scope="module")
def host() -> Iterator[SolverHost]:
    with SolverHost(cells=2) as opened:
        yield opened


def instance(id_: str, n: int, **more: Any) -> SolverInstance:
    return SolverInstance(id_, json.dumps({"n": n}).encode(), **more)


@pytest.mark.namespaces
def test_scores(host: SolverHost, profile: profiles.Profile) -> None:
    found = solve_instances(
        RIGHT,
        [
            instance("free", 0),
            instance("best", 8, best=8),
            instance("half", 4, best=8),
            instance("better", 9, best=8),
            instance("refused", 5, best=8, reference=b'{"most": 4}'),
        ],
        profile,
        host=host,
    )
    assert [each.score for each in found.instances] == [1.0, 1.0, 0.5, 1.0, 0.0]
    assert [each.objective for each in found.instances] == [0.0, 8.0, 4.0, 9.0, None]
    assert "5 is no solution" in found.instances[4].why
    assert found.score == pytest.approx(3.5 / 5)
    assert (found.accepted, found.stopped_after) == (4, None)


@pytest.mark.namespaces
def test_a_program_does_not_see_the_reference(host: SolverHost, profile: profiles.Profile) -> None:
    looks = """
import os, subprocess, gc
def solve(given):
    seen = [os.environ.copy(), given, os.listdir(".")]
    for place, _, files in os.walk("."):
        seen += [open(os.path.join(place, each), "rb").read() for each in files]
    for number in range(3, 64):
        try: seen.append(os.read(number, 1 << 16))
        except OSError: pass
    seen += [repr(each) for each in gc.get_objects() if isinstance(each, (str, bytes, dict))]
    return 1 if "731" + "902" not in repr(seen) else -1
"""
    found = solve(
        looks, {"n": 1}, profile, host=host,
        reference={"most": 731902},
    )  # fmt: skip
    assert found.accepted, found.error_digest
    assert found.result_data["solution"] == 1


@pytest.mark.parametrize("reference", [b"{", b'{"most": NaN}', b"[" * 300 + b"]" * 300])
def test_a_reference_that_is_none(
    host: SolverHost, profile: profiles.Profile, reference: bytes
) -> None:
    found = solve(RIGHT, {"n": 1}, profile, host=host, reference=reference)
    assert (found.phase, found.status_detail) == ("prepare", "invalid_input")
    assert "the reference is not JSON" in found.error_digest


def test_a_profile_that_takes_no_reference(host: SolverHost) -> None:
    found = solve("pass", {"capacity": 1, "items": []}, "packing", host=host, reference=1)
    assert (found.phase, found.status_detail) == ("prepare", "invalid_input")
    assert "takes no reference" in found.error_digest


@pytest.mark.namespaces
def test_later_stages_need_a_score(host: SolverHost, profile: profiles.Profile) -> None:
    stages = [
        instance("late", 1, stage=2),
        instance("low", 1, best=10),
        instance("last", 1, stage=9),
    ]
    ran: list[str] = []
    found = solve_instances(
        RIGHT,
        stages,
        profile,
        host=host,
        stop_below=0.5,
        on_result=lambda each: ran.append(each.id),
    )
    assert ran == ["low"]
    assert found.stopped_after == 1
    assert [each.id for each in found.instances] == ["low", "late", "last"]
    assert [each.envelope is None for each in found.instances] == [False, True, True]
    assert found.score == pytest.approx(0.1 / 3)
    enough = solve_instances(RIGHT, stages, profile, host=host, stop_below=0.1)
    assert (enough.stopped_after, enough.accepted) == (None, 3)


@pytest.mark.namespaces
def test_no_score_where_the_program_is_not_to_blame(
    host: SolverHost, profile: profiles.Profile
) -> None:
    tasks = [instance("right", 1), SolverInstance("none", b'"none"'), instance("blank", 77, best=1)]
    found = solve_instances(RIGHT, tasks, profile, host=host)
    assert [each.score for each in found.instances] == [1.0, None, 0.0]
    assert "is no task" in found.instances[1].why
    assert "computes no objective" in found.instances[2].why
    assert found.score is None


@pytest.mark.namespaces
def test_what_is_known_is_not_run(host: SolverHost, profile: profiles.Profile) -> None:
    known = InstanceResult("a", 1, 0.25)
    found = solve_instances(
        RIGHT, [instance("a", 1), instance("b", 1)], profile, host=host, known={"a": known}
    )
    assert [each.score for each in found.instances] == [0.25, 1.0]


def test_no_instances(host: SolverHost, profile: profiles.Profile) -> None:
    with pytest.raises(ValueError, match="no instances"):
        solve_instances(RIGHT, [], profile, host=host)


@pytest.mark.namespaces
def test_stopping_ends_what_is_under_way(host: SolverHost, profile: profiles.Profile) -> None:
    slow = "import time\ndef solve(given):\n    if given['n']: time.sleep(600)\n    return 1\n"
    ended: list[str] = []
    with Stop() as stop:

        def first(result: InstanceResult) -> None:
            ended.append(result.id)
            stop.set()

        tasks = [instance("quick", 0), instance("slow", 1), instance("waits", 1)]
        with pytest.raises(Cancelled):
            solve_instances(
                slow, tasks, profile, host=host, timeout=600, stop=stop, on_result=first
            )
    assert ended == ["quick"]
    assert solve(RIGHT, {"n": 1}, profile, host=host).accepted


@pytest.mark.namespaces
def test_the_best_of_what_is_yielded(host: SolverHost, profile: profiles.Profile) -> None:
    yields = """
import time
def solve(given):
    yield 3
    yield 6
    yield 1000
    yield 2
    time.sleep(60)
"""
    found = solve_instances(
        yields, [instance("a", 0, best=8)], profile, host=host, timeout=4.0
    ).instances[0]
    assert (found.score, found.objective) == (0.75, 6.0)
    assert found.envelope is not None
    assert (found.envelope.status, found.envelope.accepted) == ("timeout", True)


@pytest.mark.namespaces
def test_keywords(host: SolverHost, profile: profiles.Profile, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        'id = "p"\n[result]\nsource = "function"\narguments = "keywords"\n'
        '[validator]\nfunction = "v.py:validate"\n'
    )
    (tmp_path / "v.py").write_text(
        "from proctor.solver.report import Violation, report\n"
        "def validate(given, result, custom_checks=()):\n"
        "    right = result['solution'] == given['a'] - given['b']\n"
        "    return report([] if right else [Violation('x', 'x', 'hard', 'wrong')])\n"
    )
    named = profiles.load(str(tmp_path / "p.toml"))
    assert solve("def solve(b, a): return a - b", {"a": 5, "b": 3}, named, host=host).accepted
    wrong = solve("def solve(a): return a", {"a": 5, "b": 3}, named, host=host)
    assert (wrong.status, "unexpected keyword" in wrong.error_digest) == ("crashed", True)


@pytest.mark.namespaces
def test_two_profiles_with_modules_of_one_name(tmp_path: Path) -> None:
    with SolverHost(cells=1) as one_host:
        for name in ("one", "two"):
            place = tmp_path / name
            place.mkdir()
            (place / "helper.py").write_text(f"NAME = {name!r}\n")
            (place / "v.py").write_text(
                "from helper import NAME\nfrom proctor.solver.report import report\n"
                "def validate(given, result, custom_checks=()):\n"
                "    return report([], figures={NAME: 1.0})\n"
            )
            (place / "p.toml").write_text(
                f'id = "{name}"\n[result]\nsource = "function"\n[validator]\nfunction = "v.py:validate"\n'
            )
            found = solve(RIGHT, {"n": 1}, str(place / "p.toml"), host=one_host)
            assert found.validation is not None
            assert found.validation.figures == {name: 1.0}


finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


@fuzzed(finite, finite, st.sampled_from(["min", "max"]))
def test_closeness_is_from_0_to_1(objective: float, best: float, sense: str) -> None:
    found = closeness(objective, best, sense)
    assert 0.0 <= found <= 1.0
    at_least_as_good = objective <= best if sense == "min" else objective >= best
    assert (found == 1.0) >= at_least_as_good


@pytest.mark.parametrize(
    ("objective", "best", "sense", "expected"),
    [(10, 8, "min", 0.8), (8, 10, "max", 0.8), (0, 0, "min", 1), (5, 0, "min", 0), (-4, -8, "min", 0.5),
     (-8, -4, "max", 0.5), (3, -3, "min", 0), (7, 8, "min", 1)],
)  # fmt: skip
def test_closeness_by_hand(objective: float, best: float, sense: str, expected: float) -> None:
    assert closeness(objective, best, sense) == pytest.approx(expected)


def test_a_fault_has_no_score() -> None:
    faulty = Envelope("j", "p@1", "run", "crashed", ok=False, fault=Fault("infra-fault", "gone"))
    assert scored(instance("a", 1, best=1), faulty, "min").score is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"id": 1, "input": {}}\n{"id": "1", "input": 2}', 2, "is there twice"),
        ('\n{"id": "a"}', 2, "missing required field `input`"),
        ('{"id": "a", "input": {}, "best": "x"}', 1, "$.best"),
        ('{"id": "a", "input": {}, "stage": 0}', 1, "$.stage"),
        ('{"id": "a", "input": {}, "best": 1e999}', 1, "out of range"),
        ('{"id": "a", "inp', 1, "is not an instance"),
        ("[1]", 1, "is not an instance"),
        ("\n\n", None, "no instances"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, line: int | None, said: str) -> None:
    path = tmp_path / "i.jsonl"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_instances(path)
    assert (caught.value.line, caught.value.file) == (line, str(path))
    assert said in str(caught.value)


def test_input_goes_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "i.jsonl").write_text(
        '{"input": {"a" : 1.50}, "reference": null, "id": 7, "x": 1}\n'
    )
    assert read_instances(tmp_path / "i.jsonl") == [SolverInstance("7", b'{"a" : 1.50}')]
