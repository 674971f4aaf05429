"""The same checks on another kernel: Debian's 6.1, control groups v2 only, Landlock ABI 2.

Needs root, qemu-system-x86, mmdebstrap and Debian's archive.
"""

import platform
from typing import Any

import pytest
from machine import (
    PROCTOR,
    Check,
    Outcome,
    as_user,
    contained,
    delegated,
    given,
    logged_in,
    run,
    script,
)  # fmt: skip

MIB = 1 << 20
HOMES = ["root", "in a container", "given directory", "delegated scope", "login session"]
WITH_MORE = ["root", "given directory", "login session", "no group"]


pytestmark = [pytest.mark.timeout(2700), pytest.mark.kernel]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    def facts(*parts: str) -> list[str]:
        return script("facts.py", *parts)

    doctor = [*PROCTOR, "doctor"]
    return run([
        Check("kernel", ["uname", "-r"]),
        Check("root", facts("limits", "more")),
        Check("in a container", contained(facts("limits"))),
        Check("given directory", given(facts("limits", "more", "group"))),
        Check("delegated scope", delegated(facts("limits", "controller"))),
        Check("login session", logged_in(facts("limits", "more", "group", "controller"))),
        Check("no group", as_user(facts("limits", "more"))),
        Check("neighbours", delegated(script("neighbours.py"))),
        Check("doctor in session", logged_in(doctor)),
        Check("doctor without group", as_user(doctor)),
        # The clock of an emulated CPU goes on while the emulator waits for a busy machine's.
        Check("demo", logged_in([*PROCTOR, "demo", "--subset", "fixture", "--cpu", "20s", "--json"])),
        Check("unit", script("serve_unit.py")),
        Check("left", script("left.py")),
        Check("switch", ["sysctl", "-qw", "kernel.unprivileged_userns_clone=0"]),
        Check("doctor without namespaces", as_user(doctor)),
    ])  # fmt: skip


@pytest.fixture
def facts(outcomes: dict[str, Outcome], request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = outcomes[request.param].json()
    return found


def everywhere(homes: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("facts", homes, indirect=True)


def test_the_servers_unit(outcomes: dict[str, Outcome]) -> None:
    found = outcomes["unit"].json()
    assert found["isolation"] == "namespaces"
    assert found["hello"]["stdout"]["text"] == "hi\n"
    assert found["verdict"] == "MLE"
    assert found["guarantees"]["memory"]["how"] == "control group"
    assert found["owner"] != 0
    assert (found["result"], found["left"]) == ("success", [])


def test_it_is_another_kernel(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["kernel"].stdout.startswith("6.1.")
    assert outcomes["kernel"].stdout.strip() != platform.release()


@everywhere(HOMES)
def test_every_home_gives_all_controls(facts: dict[str, Any]) -> None:
    assert facts["found"]["controls"] == ["cpu", "memory", "pids"]
    guarantees = facts["limits"]["guarantees"]
    assert guarantees["memory"] == guarantees["cpu"] == ["full", "control group"]
    assert guarantees["processes"] == ["full", "PID namespace per job, control group"]
    assert guarantees["filesystem"][1].endswith("Landlock ABI 2")


def test_the_kind_is_the_nearest(outcomes: dict[str, Outcome]) -> None:
    kinds = {home: outcomes[home].json()["found"]["kind"] for home in HOMES}
    scoped = kinds.pop("login session")
    assert scoped == "cgroup v2, a systemd scope per cell"
    assert set(kinds.values()) == {"cgroup v2"}


@everywhere(["no group"])
def test_without_a_group_it_is_said(facts: dict[str, Any]) -> None:
    assert facts["found"] == {"kind": None, "controls": []}
    guarantees = facts["limits"]["guarantees"]
    assert [guarantees[name][0] for name in ("memory", "cpu")] == ["partial", "partial"]


@everywhere([home for home in HOMES if home != "root"])
def test_a_cell_has_a_third_of_the_hosts_share_of_the_cpu(facts: dict[str, Any]) -> None:
    assert facts["limits"]["weight"] == 33


@everywhere(["root"])
def test_a_group_above_our_own_is_not_changed_for_a_share(facts: dict[str, Any]) -> None:
    assert facts["limits"]["weight"] is None


@everywhere([*HOMES, "no group"])
def test_memory_of_one_and_of_a_tree(facts: dict[str, Any]) -> None:
    limits = facts["limits"]
    assert limits["hello"]["out"] == "hi\n"
    assert [limits[name]["limit"] for name in ("one", "tree")] == ["memory", "memory"]
    assert limits["same cell"], "the agent survived both"


@everywhere([*HOMES, "no group"])
def test_processes_are_limited(facts: dict[str, Any]) -> None:
    forks = facts["limits"]["forks"]
    assert (forks["exit"], forks["limit"]) == (0, None)
    assert 20 <= int(forks["out"]) < 40


@everywhere(WITH_MORE)
def test_a_tree_that_lost_one_process_is_over_its_limit(facts: dict[str, Any]) -> None:
    assert facts["more"]["survivor"]["limit"] == "memory"


@everywhere([home for home in WITH_MORE if home in HOMES])
def test_a_refused_allocation_is_the_programs_own(facts: dict[str, Any]) -> None:
    more = facts["more"]
    assert (more["refused"]["exit"], more["refused"]["limit"]) == (1, None)
    assert (more["caught"]["exit"], more["caught"]["out"]) == (0, "caught\n")


@everywhere([home for home in WITH_MORE if home in HOMES])
def test_cpu_of_orphans_counts(facts: dict[str, Any]) -> None:
    orphan = facts["more"]["orphan"]
    assert float(orphan["out"]) < 0.9 < orphan["cpu"], "the program itself used next to nothing"


@everywhere([home for home in WITH_MORE if home in HOMES])
def test_peak_of_a_tree_where_it_cannot_be_reset(facts: dict[str, Any]) -> None:
    """Linux 6.1: what was seen while it ran, and not what an earlier job had."""
    more = facts["more"]
    assert 85 * MIB <= more["peak"]["memory"] < 200 * MIB
    assert more["small after peak"]["memory"] < 30 * MIB


@everywhere(WITH_MORE)
def test_cpu_limit(facts: dict[str, Any]) -> None:
    assert facts["more"]["late"]["limit"] == "cpu"
    assert facts["more"]["same cell"]


@everywhere(["given directory", "login session"])
def test_a_group_taken_away_is_a_dead_cell_and_no_verdict(facts: dict[str, Any]) -> None:
    group = facts["group"]
    assert group["replaced"]
    assert (group["result"]["out"], group["result"]["limit"]) == ("right\n", None)


@everywhere(["delegated scope", "login session"])
def test_a_controller_taken_away_is_a_dead_cell_and_no_verdict(facts: dict[str, Any]) -> None:
    controller = facts["controller"]
    assert controller["replaced"]
    assert controller["result"]["limit"] == "memory", "enforced again"


def test_several_proctors_share_a_group(outcomes: dict[str, Outcome]) -> None:
    found = outcomes["neighbours"].json()
    assert found["said"][:2] == ["b'1\\n'"] * 2
    assert found["said"][2] == "b'2\\n' control group", "though the other was killed"
    assert found["during"]["ours"] == "proctor-leaf"
    assert found["during"]["passed"] == ["cpu", "memory", "pids"]
    assert len(found["during"]["groups"]) == 3
    assert found["after kill"] == found["end"] == found["before"]
    assert found["before"]["groups"] == found["before"]["passed"] == []


def test_nothing_is_left_behind(outcomes: dict[str, Outcome]) -> None:
    left = outcomes["left"].json()
    assert (left["groups"], left["processes"]) == ([], [])
    assert left["passed"] == {"given": [], "contained": []}


def test_doctor(outcomes: dict[str, Outcome]) -> None:
    good, weak = outcomes["doctor in session"], outcomes["doctor without group"]
    assert (good.status, weak.status) == (0, 0)
    assert "control groups: cgroup v2, a systemd scope per cell: cpu, memory, pids" in good.stdout
    assert "control groups: none that we may use" in weak.stdout
    assert "systemd-run --user --scope --quiet --collect -p Delegate=yes proctor" in weak.stdout
    none = outcomes["doctor without namespaces"]
    assert "sysctl -w kernel.unprivileged_userns_clone=1" in none.stdout


def test_demo(outcomes: dict[str, Outcome]) -> None:
    programs = outcomes["demo"].json()["programs"]
    assert [row for row in programs if row["verdict"] != row["expected"]] == []
    assert len(programs) == 20
