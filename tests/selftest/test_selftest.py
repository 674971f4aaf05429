"""The runner: clean where the box holds, and able to say that it does not.

A self-test that could not fail would be worse than none, so most of this is about failing: at
level none, with bait set up, with attacks that harm nothing but the bait.
"""

import os
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.errors import NoIsolation, SettingsError
from proctor.execution import Guarantee, Isolation, Strength
from proctor.selftest import attempt, run, stranger
from proctor.selftest.attack import WAYS, Attack, AttackKind, load, parse
from proctor.selftest.attempt import SECRET, _excuse
from proctor.selftest.bait import SHARED_DIRECTORIES, Bait
from proctor.selftest.report import AttackOutcome, AttackStatus, SelftestReport, to_json
from proctor.selftest.run import selftest

HARMLESS = [
    "kill_victim", "signal_by_descriptor_owner", "limits_of_victim",
    "probing_of_victim", "proc_of_victim",
    "unix_socket_by_path", "abstract_socket", "address_on_a_socket_pair", "loopback_tcp",
    "host_files", "host_file_changes", "host_file_locks", "write_anywhere",
    "shared_segment", "system_call_filter", "capabilities", "interfaces", "proc_of_everybody",
]  # fmt: skip


def attack(source: str, must: str = "held", more: str = "", kind: str = "run") -> Attack:
    text = f"# title: t\n# kind: {kind}\n# must: {must}\n{more}{source}\n"
    return parse(text, "escape", "made_up", "made_up.py")


def only(report: SelftestReport) -> AttackOutcome:
    (outcome,) = report.outcomes
    return outcome


@pytest.fixture
def unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    monkeypatch.delenv("PROCTOR_PRODUCTION", raising=False)


@pytest.mark.user
@pytest.mark.slow
@pytest.mark.timeout(900)  # where processes are counted by sampling, a fork bomb takes a minute
def test_the_whole_corpus_is_clean_here(level: str) -> None:
    seen: list[str] = []
    report = selftest(load(), show=lambda outcome: seen.append(outcome.attack.name))
    assert [
        (o.attack.name, o.happened) for o in report.outcomes if o.status is AttackStatus.THROUGH
    ] == []
    assert report.left == ()
    assert (report.clean, report.complete) == (True, True)
    assert sorted(seen) == sorted(outcome.attack.name for outcome in report.outcomes)
    assert len(report.outcomes) == len(load())
    assert report.isolation.level == level
    assert report.slowest_reaping is not None
    if all(g.strength is Strength.FULL for g in report.isolation.guarantees.values()):
        assert report.counts[AttackStatus.NOT_GUARANTEED] == 0


@pytest.mark.user
@pytest.mark.namespaces
@pytest.mark.usefixtures("unsafe")
def test_without_a_box_everything_gets_through() -> None:
    report = selftest(load(HARMLESS), isolation="none")
    assert {o.attack.stem: o.status for o in report.outcomes} == dict.fromkeys(
        HARMLESS, AttackStatus.THROUGH
    )
    assert not report.clean
    happened = {o.attack.stem: o.happened for o in report.outcomes}
    assert "a signal reached the host's process" in happened["kill_victim"]
    assert "the host's bait process was ended" in happened["signal_by_descriptor_owner"]
    assert "limits of the host's bait process was changed" in happened["limits_of_victim"]
    assert "the host's stream socket was reached" in happened["unix_socket_by_path"]
    assert "the host's abstract_dgram socket was reached" in happened["address_on_a_socket_pair"]
    assert "the host's tcp4 socket was reached" in happened["loopback_tcp"]
    assert "marker is gone: No such file or directory" in happened["host_file_changes"]
    assert "marker was read" in happened["host_files"]


@pytest.mark.slow
@pytest.mark.usefixtures("unsafe")
def test_what_would_harm_the_machine_is_not_run_without_a_box() -> None:
    report = selftest(load(["kill_everyone", "kill_victim"]), isolation="none")
    statuses = {outcome.attack.stem: outcome.status for outcome in report.outcomes}
    assert statuses == {"kill_everyone": AttackStatus.NOT_RUN, "kill_victim": AttackStatus.THROUGH}
    with pytest.raises(SettingsError, match="would harm this machine: none was run"):
        selftest(load(["kill_everyone"]), isolation="none")


@pytest.mark.user
def test_level_none_is_refused_without_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_ALLOW_UNSAFE", raising=False)
    with pytest.raises(NoIsolation):
        selftest(load(["kill_victim"]), isolation="none")


@pytest.mark.parametrize(
    ("source", "must", "said"),
    [
        ("say('through', 'the wall')", "held", "the wall"),
        ("say('through')", "any end", "it got through"),
        ("pass", "held", "it should have been held, but: ended with code 0"),
        ("raise SystemExit('no')", "held", "but: ended with code 1: no"),
        ("finish()", "limit cpu", "it should have been limit cpu, but: held"),
        ("found.append('a'); found.append('b'); finish()", "held", "a, b"),
        ("os.kill(os.getpid(), 9)", "held", "but: ended by signal 9"),
    ],
)
def test_a_run_that_did_not_hold(source: str, must: str, said: str) -> None:
    outcome = only(selftest([attack(source, must)]))
    assert outcome.status is AttackStatus.THROUGH
    assert said in outcome.happened


def test_a_run_that_held() -> None:
    outcome = only(selftest([attack("finish('nothing there')")]))
    assert (outcome.status, outcome.happened) == (AttackStatus.HELD, "held: nothing there")
    assert outcome.reaped is None


def test_the_time_from_the_limit_to_the_end_is_kept() -> None:
    stopped = attack("while True: pass", "limit cpu", "# limits: cpu=0.1\n")
    outcome = only(selftest([stopped]))
    assert outcome.status is AttackStatus.HELD
    assert outcome.reaped is not None


def test_a_submission_that_passes_got_through() -> None:
    knows = attack(f"input()\nprint({SECRET!r})", "not AC", kind="judge")
    outcome = only(selftest([knows]))
    assert outcome.status is AttackStatus.THROUGH
    for mode in ("standard", "fast", "official"):
        assert f"it passed in {mode} mode" in outcome.happened


def test_a_function_that_passes_got_through() -> None:
    source = f"class Solution:\n    def reveal(self, name):\n        return {SECRET!r}"
    knows = attack(source, "not AC", "# function: reveal\n# modes: fast\n", kind="judge")
    assert "it passed in fast mode" in only(selftest([knows])).happened


def test_a_submission_may_be_printed() -> None:
    source = f"input()\nprint({SECRET!r})"
    printed = attack(
        f"print({source!r})", "not AC", "# source: printed\n# modes: standard\n",
        kind="judge",
    )  # fmt: skip
    assert "it passed in standard mode" in only(selftest([printed])).happened


@pytest.mark.slow
def test_a_submission_that_says_whether_it_was_held() -> None:
    held = only(selftest([attack("finish()", more="# ways: submission\n")]))
    assert held.status is AttackStatus.HELD
    got = only(selftest([attack("found.append('it')\nfinish()", more="# ways: submission\n")]))
    assert got.status is AttackStatus.THROUGH


@pytest.mark.user
@pytest.mark.parametrize("way", WAYS)
def test_every_way_into_a_cell_is_tried(way: str) -> None:
    """An attack says by itself whether it was held; so does one that gets through by one way only."""
    more = f"# limits: memory=256M\n# ways: run {way}\n" if way != "run" else ""
    assert only(selftest([attack("finish()", more=more)])).status is AttackStatus.HELD
    marks = {
        "script": "sys.argv[0] == 'attack.py' and not os.path.exists('attack.py')",
        "command": "sys.argv[0] == '-c'", "solver": "os.path.exists('attack.py')",
        "submission": "True", "run": "True",
    }  # fmt: skip
    outcome = only(selftest([attack(f"if {marks[way]}: found.append('it')\nfinish()", more=more)]))
    assert outcome.status is AttackStatus.THROUGH


@pytest.mark.user
@pytest.mark.parametrize(
    ("result", "status"),
    [
        ("{'status': 'OPTIMAL', 'solution': given['allowed']}", AttackStatus.HELD),
        ("{'status': 'OPTIMAL', 'solution': ['made up']}", AttackStatus.HELD),
        ("{'status': 'OPTIMAL', 'solution': given['late']}", AttackStatus.THROUGH),
    ],
)
def test_a_solver_gets_through_with_what_it_must_not_know(
    result: str, status: AttackStatus
) -> None:
    source = (
        "import json\ngiven = json.load(open('input.json'))\n"
        f"json.dump({result}, open('result.json', 'w'))"
    )
    outcome = only(selftest([attack(source, kind="solve")]))
    assert outcome.status is status, outcome.happened


def test_a_solver_that_finds_something_says_so() -> None:
    outcome = only(selftest([attack("print('through: a file')", kind="solve")]))
    assert (outcome.status, outcome.happened) == (AttackStatus.THROUGH, "a file")


@pytest.mark.slow
def test_a_program_that_guesses_without_a_memory() -> None:
    forgets = attack("play(lambda: None, lambda tried: None)", "not AC", kind="guess")
    outcome = only(selftest([forgets], judgements=9))
    assert (outcome.status, outcome.happened) == (AttackStatus.HELD, "9 judgements: WA 9")


@pytest.mark.slow
@pytest.mark.usefixtures("unsafe")
@pytest.mark.root  # at level none the limit of processes is that of the whole user
def test_a_program_that_guesses_with_a_memory_passes_in_the_end(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    source = (
        "import json\n"
        f"recall = lambda: json.load(open({str(notes)!r}))\n"
        f"leave = lambda tried: json.dump(tried, open({str(notes)!r}, 'w'))\n"
        "play(recall, leave)"
    )
    remembers = attack(source, "not AC", "# modes: standard\n# harmless: yes\n", kind="guess")
    outcome = only(selftest([remembers], isolation="none", judgements=150))
    assert outcome.status is AttackStatus.THROUGH
    assert "AC 1" in outcome.happened


def test_the_two_of_a_pair_meet_in_one_cell() -> None:
    """The cell's own process is the same one; where nothing leaks, that is all they share."""
    source = (
        "assert bait['plant'].startswith('proctor-planted-')\n# --- second ---\n"
        "assert 'plant' not in bait\nfinish()"
    )
    assert only(selftest([attack(source, kind="pair")])).status is AttackStatus.HELD


def test_what_the_first_of_a_pair_says_counts() -> None:
    source = "say('through', 'at once')\n# --- second ---\nfinish()"
    outcome = only(selftest([attack(source, kind="pair")]))
    assert (outcome.status, outcome.happened) == (AttackStatus.THROUGH, "at once")


@pytest.mark.user
@pytest.mark.usefixtures("unsafe")
def test_a_file_left_on_the_host_is_found_and_taken_away() -> None:
    source = "open('/tmp/' + bait['leave'], 'w').close(); print('/tmp/' + bait['leave']); finish()"
    outcome = only(selftest([attack(source, more="# harmless: yes\n")], isolation="none"))
    assert outcome.status is AttackStatus.THROUGH
    assert "the file /tmp/left-" in outcome.happened
    assert not list(Path("/tmp").glob("left-*"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("os.utime(bait['files'][0], (1, 1))", "attributes or times of the host's file"),
        ("open(bait['files'][0], 'a').write('x')", "content of the host's file"),
        ("os.setxattr(bait['files'][0], 'user.x', b'x')", "extended attributes of the host's file"),
        ("os.kill(bait['victim'], 19)", "state of the host's bait process was changed"),
        ("os.kill(bait['victim'], 9)", "the host's bait process was ended (status -9)"),
        ("open(bait['terminal'], 'w').write('x')", "was written to the host's terminal"),
    ],
)
@pytest.mark.usefixtures("unsafe")
def test_what_an_attack_does_in_silence_is_seen_from_the_host(source: str, said: str) -> None:
    quiet = attack(f"{source}\nfinish()", more="# harmless: yes\n")
    outcome = only(selftest([quiet], isolation="none"))
    assert outcome.status is AttackStatus.THROUGH
    assert said in outcome.happened


@pytest.mark.usefixtures("unsafe")
def test_a_cell_that_dies_got_through() -> None:
    source = "os.kill(os.getppid(), 9); import time; time.sleep(5)"
    report = selftest([attack(source, "any end", "# harmless: yes\n")], isolation="none")
    assert only(report).status is AttackStatus.THROUGH
    assert "the cell died" in only(report).happened


def test_a_descriptor_left_open_is_reported() -> None:
    opened: list[int] = []
    try:
        report = selftest(
            [attack("finish()")], show=lambda _outcome: opened.append(os.open("/", os.O_RDONLY))
        )
        assert [left.split(" (")[0] for left in report.left] == [f"the descriptor {opened[0]}"]
        assert not report.clean
    finally:
        for fd in opened:
            os.close(fd)


@pytest.mark.user
def test_nothing_stays_on_the_host() -> None:
    def ours() -> set[str]:
        return {name for place in SHARED_DIRECTORIES for name in os.listdir(place)
                if f"proctor-selftest-{os.getpid()}-" in name}  # fmt: skip

    before, environment = ours(), dict(os.environ)
    selftest([attack("finish()")])
    assert ours() == before
    assert dict(os.environ) == environment


def test_an_excuse_is_what_the_level_itself_says() -> None:
    partial = Guarantee(Strength.PARTIAL, "sampling", "what is used between two samples")
    full = Guarantee(Strength.FULL, "control group")
    weak = Isolation("landlock", {"memory": partial, "cpu": full})
    needs_memory = replace(attack("pass"), needs=("memory",))
    assert _excuse(needs_memory, weak) == "memory: what is used between two samples"
    assert _excuse(replace(needs_memory, needs=("cpu",)), weak) is None
    assert _excuse(replace(needs_memory, needs=()), weak) is None
    assert _excuse(needs_memory, Isolation("none", {"memory": partial})) is None
    missing = Guarantee(Strength.NONE, "no such thing here")
    without = Isolation("landlock", {"memory": missing})
    assert _excuse(needs_memory, without) == "memory: not enforced: no such thing here"


@pytest.mark.user
def test_bait_notices_what_is_done_to_it() -> None:
    with Bait(os.getuid()) as bait:
        assert bait.harm() == []
        marker = bait._markers[0].path
        marker.read_bytes()
        marker.chmod(0o600)
        os.setpriority(os.PRIO_PROCESS, bait._victim.pid, 7)
        harm = bait.harm()
        assert f"attributes or times of the host's file {marker} were changed" in harm
        assert "priority of the host's bait process was changed" in harm
    assert not marker.exists()


def test_the_report_as_json() -> None:
    report = selftest([attack("finish('so')")])
    row = to_json(report)
    assert set(row) == {
        "level", "clean", "complete", "counts", "left", "slowest_reaping", "seconds", "guarantees",
        "attacks",
    }  # fmt: skip
    assert row["counts"] == {"held": 1, "through": 0, "not guaranteed": 0, "not run": 0}
    assert row["attacks"][0]["name"] == "escape/made_up"
    assert row["attacks"][0]["happened"] == "held: so"
    assert row["guarantees"]["network"]["strength"] == "full"


def test_attacks_are_no_part_of_the_program() -> None:
    """Importing proctor's own modules must never import one."""
    assert not any(name.startswith("proctor.selftest.attacks") for name in sys.modules)
    assert AttackKind.RUN in {a.kind for a in load()}


@pytest.mark.user
@pytest.mark.parametrize("niceness", [3, 10])
def test_a_host_that_was_started_by_nice_is_no_finding(niceness: int) -> None:
    """A cell has its host's niceness; what the program before it left would be more."""
    proctor = str(Path(sysconfig.get_path("scripts"), "proctor"))
    only = [proctor, "selftest", "--only", "signals_and_timers"]
    done = subprocess.run(["nice", "-n", str(niceness), *only], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_niceness_that_was_left_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As told of a cell whose jobs had less before."""
    attack = load(["signals_and_timers"])[0]
    before = attempt.inspect_cell
    monkeypatch.setattr(run, "inspect_cell", lambda cell: replace(before(cell), niceness=-1))
    assert "a niceness" in only(selftest([attack])).happened


@pytest.mark.parametrize(
    ("source", "status", "happened"),
    [
        ("finish('all')", AttackStatus.HELD, "held: all"),
        ("attempt('a', open, '/')\nfinish()", AttackStatus.HELD, "held"),
        ("attempt('a', open, '/dev/null')\nfinish()", AttackStatus.THROUGH, "a"),
        ("refused('a', int, '1')\nfinish()", AttackStatus.THROUGH, "a: '1' was accepted"),
        ("refused('a', int, 'x')\nfinish()", AttackStatus.THROUGH, "a: ValueError: invalid"),
        (
            "from proctor import Limits\nrefused('a', Limits, -1.0)\nfinish()",
            AttackStatus.HELD,
            "held",
        ),
        ("import os\nprint('held')\nos.abort()", AttackStatus.THROUGH, "ended with code -6"),
        ("print('nothing')", AttackStatus.THROUGH, "it ended with code 0: nothing"),
        ("leave_out('for want of rights')", AttackStatus.NOT_RUN, "for want of rights"),
    ],
)
def test_strangers(source: str, status: AttackStatus, happened: str) -> None:
    outcome = stranger.carry_out(attack(source, kind="host"))
    assert outcome.status is status
    assert happened in outcome.happened


def test_memory_of_who_runs_the_selftest_is_not_the_strangers() -> None:
    """A trainer's gigabytes, or a worker's after a thousand tests, were counted as the attack's."""
    held = b"x" * (1100 << 20)
    outcome = stranger.carry_out(attack("finish()", kind="host"))
    assert (outcome.status, len(held)) == (AttackStatus.HELD, 1100 << 20), outcome.happened
