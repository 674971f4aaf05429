"""Benchmarks of other packages: a distribution on the path, as an installer would leave it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import COMMAND, environment
from proctor_command import Proctor
from stub import Call, serving

from proctor.errors import InputError
from proctor.evals.provenance import provenance
from proctor.evals.registry import benchmark_named, installed
from proctor.evals.store import RunStore
from waiting import PATIENCE

BENCHMARK = """
from proctor import Problem, Test
from proctor.evals import extraction
from proctor.evals.livecodebench.generation import open_tests
from proctor.evals.models.model import Message
from proctor.evals.stored import ProblemInfo

class Source:
    name = "two lines"
    def infos(self):
        return [ProblemInfo(each) for each in ("a", "b")]
    def instances(self, only):
        for each in only:
            yield Problem(id=each, tests=(Test("", each),))
    def provenance(self):
        return [{"revision": 1}]

class Lines:
    name, version, modes, agentic = "lines", 1, {"standard": "tests"}, True
    def check(self, settings): pass
    def open_source(self, settings, progress=None): return Source()
    def messages(self, instance, sample, settings): return (Message("user", "Print " + instance.id),)
    def extract(self, problem, text, settings): return extraction.extract(text, settings.extraction)
    def open_grader(self, settings): return open_tests(settings)
"""
ADAPTER = """
import asyncio

class Numbers:
    name = "numbers"
    def load_instances(self): return range(6)
    async def run_instance(self, number):
        if number == 4:
            raise ZeroDivisionError("four")
        return number
    async def evaluate(self, number, same): return same
    def is_pass(self, same): return 6 // (5 - same) > 1
    def summarize(self, outcomes): return [outcome.passed for outcome in outcomes]

class Endless(Numbers):
    name = "endless"
    def load_instances(self):
        print("begun", flush=True)
        return range(6)
    async def run_instance(self, number): await asyncio.Event().wait()

class Unloadable(Numbers):
    name = "unloadable"
    def load_instances(self): raise OSError("no file of numbers")
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution on the path, with modules whose names no other test has."""

    def put(dist: str, entries: dict[str, str], **modules: str) -> None:
        place = tmp_path / dist
        info = place / f"{dist}-1.5.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.5\n")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[proctor.benchmarks]", *lines]) + "\n")
        for name, source in modules.items():
            (place / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(place)

    return put


@pytest.mark.slow
def test_a_benchmark_runs_with_all_that_a_run_has(
    proctor: Proctor, tmp_path: Path, install: Install
) -> None:
    install("lines-dist", {"lines": "ep_lines:Lines"}, ep_lines=BENCHMARK)

    def answer(call: Call) -> None:
        if "b" in call.body["messages"][-1]["content"].split() and not healed:
            call.send(b"no", status=400)
        else:
            call.reply("```python\nprint('a')\n```")

    healed: list[bool] = []
    run = tmp_path / "run"
    with serving(answer) as stub:
        first = proctor("eval", "lines", "--model", "stub", "--base-url", stub.url, "--out", run,
                        "--n", "2", "--json")  # fmt: skip
        assert first.returncode == 125, first.stderr
        found = json.loads(first.stdout)
        assert found["benchmark"] == "lines"
        assert found["standard"]["passed"] == 2
        healed.append(True)
        again = json.loads(proctor("retry", run, "--json").stdout)
        assert stub.calls.total() == 6
    assert (again["standard"]["passed"], again["unfinished"]) == (2, 0)
    with RunStore.open(run) as store:
        assert provenance(store)["distribution"] == "lines-dist 1.5"
        assert [each.judgements[0].verdict for each in store.samples()] == ["AC", "AC", "WA", "WA"]
    assert proctor("rejudge", run, "--json").returncode == 0
    assert proctor("report", run, "-o", tmp_path / "report.html").returncode == 0
    exported = proctor("export", run, "--format", "jsonl")
    assert len(exported.stdout.splitlines()) == 4


def test_it_is_listed_without_being_imported(proctor: Proctor, install: Install) -> None:
    install("bad-dist", {"bad": "ep_bad:X"}, ep_bad="raise RuntimeError('no')")
    listed = proctor("eval", "--help")
    assert listed.returncode == 0
    assert "From the package bad-dist 1.5." in listed.stdout
    unknown = proctor("eval", "worse")
    assert unknown.returncode == 2
    with pytest.raises(InputError, match=r"'worse' is not one of livecodebench, .*, bad"):
        benchmark_named("worse")


@pytest.mark.parametrize(
    ("value", "module", "why"),
    [
        ("ep_broken:X", "raise RuntimeError('out of order')", "RuntimeError: out of order"),
        ("ep_broken:X", "def", "SyntaxError: "),
        ("ep_broken:X", "Y = 1", "AttributeError: "),
        ("ep_absent:X", "", "ModuleNotFoundError: No module named 'ep_absent'"),
        ("ep_broken:X", "class X:\n def __init__(self, model): pass", "TypeError: "),
        ("ep_broken:X", "X = 5", "neither a Benchmark nor a BenchmarkAdapter"),
        ("ep_broken:Numbers", ADAPTER, "calls itself 'numbers'"),
    ],
)
def test_a_broken_one_is_a_sentence(
    proctor: Proctor, install: Install, monkeypatch: pytest.MonkeyPatch, value: str, module: str,
    why: str,
) -> None:  # fmt: skip
    monkeypatch.delitem(os.sys.modules, "ep_broken", raising=False)  # type: ignore[attr-defined]
    install("broken-dist", {"own": value}, ep_broken=module)
    done = proctor("eval", "own", "--limit", "1")
    assert done.returncode == 2
    assert f"entry point `own = {value}` of broken-dist 1.5" in done.stderr
    assert why in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["humaneval", "cruxeval", "livecodebench/mine"])
def test_names_of_ours_are_refused(proctor: Proctor, install: Install, name: str) -> None:
    """Which was meant is anybody's guess, so neither is run."""
    install("thief-dist", {name: "ep_thief:X"}, ep_thief="X = 5")
    ours = name.partition("/")[0]
    for asked in {name, ours}:
        done = proctor("eval", asked, "--model", "replay:none")
        assert done.returncode == 2
        assert f"thief-dist 1.5: '{ours}' is the name of a benchmark that comes" in done.stderr
    assert proctor("eval", "mbpp", "--help").returncode == 0, "others are not affected"


def test_two_of_one_name_are_refused(proctor: Proctor, install: Install) -> None:
    install("one-dist", {"own": "ep_two:Numbers"}, ep_two=ADAPTER)
    install("two-dist", {"own": "ep_two:Numbers"})
    assert [each.name for each in installed()].count("own") == 2
    done = proctor("eval", "own")
    assert done.returncode == 2
    assert "one-dist 1.5" in done.stderr
    assert "two-dist 1.5" in done.stderr


def test_an_adapter(proctor: Proctor, install: Install) -> None:
    """Instance 4 cannot be done, 5 cannot be graded; neither costs another."""
    install("numbers-dist", {"numbers": "ep_numbers:Numbers"}, ep_numbers=ADAPTER)
    done = proctor("eval", "numbers", "--json", "--concurrency", "3")
    assert done.returncode == 125
    assert "nothing is kept" in done.stderr
    found = json.loads(done.stdout)
    assert found == {
        "benchmark": "numbers", "distribution": "numbers-dist 1.5", "instances": 6, "passed": 2,
        "faults": ["adapter-error: ZeroDivisionError('four')", found["faults"][1]],
        "summary": [False, False, True, True, False, False],
    }  # fmt: skip
    assert "ZeroDivisionError" in found["faults"][1]
    short = proctor("eval", "numbers", "--limit", "3")
    assert short.returncode == 0
    assert "1 of 3 passed, 0 without a result" in short.stdout
    assert "--model" not in proctor("eval", "numbers", "--help").stdout
    with pytest.raises(InputError, match="is an adapter"):
        benchmark_named("numbers")


def test_an_adapter_s_own_mistakes_name_its_package(proctor: Proctor, install: Install) -> None:
    install("off-dist", {"unloadable": "ep_off:Unloadable"}, ep_off=ADAPTER)
    done = proctor("eval", "unloadable")
    assert done.returncode == 2
    assert "of off-dist 1.5: OSError: no file of numbers" in done.stderr


def test_an_adapter_can_be_stopped(tmp_path: Path, install: Install) -> None:
    install("endless-dist", {"endless": "ep_endless:Endless"}, ep_endless=ADAPTER)
    child = subprocess.Popen(
        [COMMAND, "eval", "endless"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**environment(), "PYTHONPATH": str(tmp_path / "endless-dist")},
    )  # fmt: skip
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 130, said
    assert b"interrupted: 0 instances done" in said
