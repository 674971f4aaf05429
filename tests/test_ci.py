"""tools/ci chooses what a change must pass, runs it, and tries once more what failed."""

import subprocess
import sys
from pathlib import Path

import pytest

from ci import changes, graph, items, plan, running
from needs import REAL_PARTS

ROOT = Path(__file__).parents[1]
DOOR = "src/proctor/service/http/judge0/routes.py"


def affected(*paths: str) -> set[str]:
    return set(graph.affected(changes.Changes("a commit", frozenset(paths))))


def everything_changed() -> changes.Changes:
    return changes.Changes("nothing is known", None)


@pytest.mark.parametrize(
    ("path", "some"),
    [
        # Imported, directly or through others.
        ("src/proctor/judging/comparison.py", "tests/judging/test_comparison.py"),
        ("src/proctor/judging/comparison.py", "tests/integrations/test_rewards.py"),
        ("src/proctor/errors.py", "tests/sandbox/test_pool.py"),
        # Sent into cells, not imported.
        ("src/proctor/cell/agent.py", "tests/sandbox/test_run_limits.py"),
        ("src/proctor/cell/lockdown.c", "tests/sandbox/test_run_limits.py"),
        # Reached by the command alone, which the test names, or a page of the documentation may.
        ("src/proctor/cli/judge.py", "tests/cli/test_judge_command.py"),
        ("src/proctor/evals/store.py", "tests/cli/test_report_commands.py"),
        ("src/proctor/view/app.py", "tests/view/test_view_requests.py"),
        ("src/proctor/view/app.py", "tests/test_docs.py"),
        ("src/proctor/cli/main.py", "tests/evals/test_eval_command.py"),
        ("src/proctor/cli/eval.py", "tests/evals/test_eval_command.py"),
        ("src/proctor/cli/eval_settings.py", "tests/evals/test_self_repair.py"),
        ("src/proctor/cli/solve.py", "tests/cli/test_solve.py"),
        ("src/proctor/cli/ioi.py", "tests/cli/test_ioi_command.py"),
        ("src/proctor/cli/timetable.py", "tests/timetable/test_skeleton_runs.py"),
        ("src/proctor/cli/doctor.py", "tests/cli/test_run_command.py"),
        ("src/proctor/cli/tack.py", "tests/cli/test_tack.py"),
        ("src/proctor/service/daemon/daemon.py", "tests/clients/test_client.py"),
        # Imported by a part of its name, or by its name in a table.
        ("src/proctor/formats/conversion/to_cms.py", "tests/cli/test_convert_command.py"),
        ("src/proctor/formats/packages/tps.py", "tests/cli/test_judge_rows.py"),
        ("src/proctor/evals/livecodebench/rows.py", "tests/view/test_view_refusals.py"),
        ("src/proctor/service/mcp/server.py", "tests/service/mcp/test_mcp.py"),
        ("src/proctor/service/http/tack/routes.py", "tests/service/http/test_tack_http.py"),
        ("src/proctor/service/http/sandbox_fusion/routes.py", "tests/service/http/test_hostile_clients.py"),
        (DOOR, "tests/service/http/judge0/test_judge0_submissions.py"),
        (DOOR, "tests/service/http/test_door_attacks.py"),
        ("src/proctor/judging/environment.py", "tests/integrations/test_open_r1.py"),
        # No module, or one that is gone: of the package around it.
        ("src/proctor/judging/gone.py", "tests/judging/test_judge.py"),
        ("src/proctor/languages/definitions/cpp.toml", "tests/languages/test_definitions.py"),
        ("src/proctor/view/page/view.js", "tests/view/test_view_page.py"),
        # Outside src: by name.
        ("docs/how-to/choose-isolation.md", "tests/test_docs.py"),
        ("deploy/Dockerfile", "tests/containers/test_container_serve.py"),
        ("clients/typescript/src/solving.ts", "tests/clients/test_typescript.py"),
        ("tests/corpus/add/ac_ac_plain.py", "tests/test_corpus.py"),
        # Helpers of tests, and tests themselves.
        ("tests/made_runs.py", "tests/reports/test_page.py"),
        ("tests/sandbox/cells.py", "tests/sandbox/test_pool.py"),
        ("tests/reports/test_uncertainty.py", "tests/reports/test_uncertainty.py"),
    ],
)  # fmt: skip
def test_what_depends_on_a_change_is_tried(path: str, some: str) -> None:
    assert some in affected(path)


@pytest.mark.parametrize(
    ("path", "other"),
    [
        (DOOR, "tests/reports/test_uncertainty.py"),
        (DOOR, "tests/service/http/piston/test_piston_execute.py"),
        (DOOR, "tests/cli/test_serve_command.py"),
        (DOOR, "tests/evals/replaying/test_recorded_runs.py"),
        ("src/proctor/view/app.py", "tests/cli/test_judge_command.py"),
        ("src/proctor/reports/uncertainty.py", "tests/sandbox/test_pool.py"),
        ("docs/index.md", "tests/sandbox/test_pool.py"),
        ("tests/reports/test_uncertainty.py", "tests/reports/test_ranking.py"),
    ],
)
def test_what_depends_on_no_change_is_left_out(path: str, other: str) -> None:
    assert other in graph.tests()
    assert other not in affected(path)


@pytest.mark.parametrize("path", graph.EVERYWHERE)
def test_what_all_depend_on(path: str) -> None:
    assert affected(path) == set(graph.tests())


def test_where_nothing_is_known_all_is_tried() -> None:
    assert graph.affected(everything_changed()) == graph.tests()
    assert everything_changed().within("anything")


@pytest.mark.slow
def test_all_files_that_pytest_finds_are_known() -> None:
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq", "tests/reports", "tests/cell"],
        cwd=ROOT, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = {line.partition(":")[0] for line in collected.splitlines() if line.startswith("tests/")}
    assert found
    assert found == {
        each for each in graph.tests() if each.startswith(("tests/reports/", "tests/cell/"))
    }


def test_the_core_is_tried_whatever_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        changes, "changes", lambda: changes.Changes("a commit", frozenset({"docs/index.md"}))
    )
    files = plan.landing().files
    assert {each for each in graph.tests() if each.startswith("tests/judging/")} <= set(files)
    assert "tests/reports/test_uncertainty.py" not in files
    assert any("files of tests/reports: nothing" in line for line in plan.landing().reasons)


def test_each_far_part_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "changes", lambda: changes.Changes("a commit", frozenset()))
    seen = list[str]()
    for turn in range(items.THIRDS):
        monkeypatch.setattr(changes, "turn", lambda turn=turn: turn)
        chosen = [part.name for part in plan.landing().parts]
        assert chosen[:6] == ["check", "demo", "unboxed", "tests", "install", "user"]
        seen += chosen[6:]
    assert sorted(seen) == sorted(part.name for part in items.FAR)


def test_a_far_part_is_tried_at_once_if_what_it_is_about_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for part in items.FAR:
        for path in part.about:
            assert (ROOT / path).exists(), f"{part.name} is about {path}, which is not there"
            made = changes.Changes("a commit", frozenset({path}))
            monkeypatch.setattr(changes, "changes", lambda made=made: made)
            assert part.name in [each.name for each in plan.landing().parts]


def test_each_real_part_of_the_tests_is_left_to_a_far_part(tmp_path: Path) -> None:
    place = items.Place(tmp_path, [], frozenset(), frozenset(), True, frozenset())
    commands = [" ".join(part.item(place).command) for part in items.FAR]
    for mark in set(REAL_PARTS) - {"podman"}:  # which is tried by hand
        assert any(mark in command for command in commands), mark
    assert set(items.NOT_FAR.removeprefix("not (").removesuffix(")").split(" or ")) == set(
        REAL_PARTS
    )


def chosen(*options: str) -> set[str]:
    """Return the tests in two small files that pytest would run."""
    files = ("tests/formats/test_livecodebench_format.py", "tests/deploy/test_slurm.py")
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, *files],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert collected.returncode == 0, collected.stdout
    return {line for line in collected.stdout.splitlines() if "::" in line}


def test_slow_tests_are_run_where_something_changed(tmp_path: Path) -> None:
    slow = "tests/formats/test_livecodebench_format.py::test_big_rows_load_fast"
    assert slow in chosen()
    assert slow not in chosen("--quick")
    listed = tmp_path / "changed"
    for path in ("src/proctor/formats/livecodebench.py", slow.partition(":")[0]):
        listed.write_text(f"{path}\n")
        assert slow in chosen("--landing", "--changed", str(listed))


def test_what_a_mark_chooses_is_sampled_only_of_a_real_part() -> None:
    files = ("tests/test_config.py", "tests/sandbox/test_policy.py")  # where nothing is slow
    assert chosen("--landing", "-m", "user", *files) == chosen("-m", "user", *files)


def test_a_real_part_is_run_if_it_is_asked_for() -> None:
    every = chosen("-m", "slurm")
    assert every
    assert not every & chosen("--quick")
    assert chosen("--quick", "-m", "slurm") == every
    some = chosen("--landing", "-m", "slurm")
    assert some
    assert some <= every


@pytest.fixture
def runner(tmp_path: Path) -> running.Runner:
    return running.Runner(tmp_path)


def item_of(path: Path, text: str) -> running.Item:
    path.write_text(text)
    alone = ("--rootdir", str(path.parent), "-c", "/dev/null", "--noconftest", "-p", "no:xdist")
    return running.Item("some", (sys.executable, "-m", "pytest", *alone, str(path)), pytest=True)


@pytest.mark.slow
def test_both_outcomes_of_what_failed_once_are_printed(
    runner: running.Runner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    item = item_of(tmp_path / "test_some.py", f"""
from pathlib import Path
def test_that_passes(): assert True
def test_that_fails(): assert "always" == "never"
def test_that_passes_alone():
    tried = Path({str(tmp_path / "tried")!r})
    assert tried.exists() or tried.write_text("") is not None
    before = Path({str(tmp_path / "before")!r})
    ran, _ = before.exists(), before.write_text("")
    assert ran
""")  # fmt: skip
    outcome = runner.run(item)
    assert outcome.status == 1
    first = capsys.readouterr().out
    assert "2 failed, 1 passed" in first
    runner.run_again(outcome)
    second = capsys.readouterr().out
    assert "1 failed, 1 passed" in second  # of those that failed, and no others
    assert [each.partition("::")[2] for each in outcome.flaky] == ["test_that_passes_alone"]
    assert outcome.failed


def test_what_fails_once_and_is_no_pytest_is_run_whole_again(
    runner: running.Runner, tmp_path: Path
) -> None:
    once = f"test -e {tmp_path}/tried || {{ touch {tmp_path}/tried; exit 3; }}"
    outcome = runner.run(running.Item("once", ("sh", "-c", once)))
    assert outcome.status == 3
    runner.run_again(outcome)
    assert not outcome.failed
    assert outcome.flaky == ("once",)


def test_what_takes_too_long_is_ended_and_said(
    runner: running.Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = runner.run(running.Item("endless", ("sleep", "1000"), most=1))
    assert outcome.failed
    assert "it took more than 1 s" in capsys.readouterr().out


def test_what_cannot_be_prepared_fails_and_is_tried_once_more(
    runner: running.Runner, tmp_path: Path
) -> None:
    once = f"test -e {tmp_path}/tried || {{ touch {tmp_path}/tried; exit 3; }}"
    item = running.Item("some", ("true",), before=(("true",), ("sh", "-c", once)))
    outcome = runner.run(item)
    assert outcome.status == 3
    runner.run_again(outcome)
    assert not outcome.failed


def test_arguments_reach_pytest_through_make() -> None:
    command = ("make", "test", "PYTEST_FLAGS=-m user")
    assert running.with_arguments(command, "--lf") == ("make", "test", "PYTEST_FLAGS=-m user --lf")
