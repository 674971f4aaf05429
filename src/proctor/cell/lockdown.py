"""The agent's own lock-down, and its choice between the C part and the substitute for it."""

import contextlib
import os
import site
from collections.abc import Callable
from typing import Any

try:
    from proctor.cell import _lockdown, keeper, memory
except ImportError:
    from proctor.cell import fallback

    _lockdown = None  # type: ignore[assignment]

WORK = "/box/work"
DEVICES = ("null", "zero", "full", "random", "urandom")
GetReady = Callable[[int, int], None]
"""Prepares the agent for a job: its kind, and 1 if it has a function to call, else 0."""


def enter(config: dict[str, Any], inherited: list[int]) -> None:
    """Start a keeper where there is no box; see keeper.start."""
    if config["box"] == "landlock":
        if _lockdown is None:
            raise RuntimeError("level landlock needs proctor's C part, which is missing")
        keeper.start(config, inherited)


def prepare(config: dict[str, Any]) -> dict[str, Any]:
    """Get ready to spawn; returns what will be in force once `seal` has been called."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    site.enablerlcompleter()
    facts = {"lockdown": _lockdown is not None, "landlock": 0, "seccomp": False, "proc": False}
    facts |= {"pidns": False, "disk": False, "scope": False, "loopback": False}
    if work := config.get("work"):  # a container's directory, which all jobs get, one by one
        os.chdir(work)
        facts["disk"] = True
    if _lockdown is None:
        if config["uid"] is not None:
            raise RuntimeError("without proctor's C part, programs would stay the machine's root")
        return facts
    if config["box"] == "none":
        scratch = config["scratch"]
        features = 0 if scratch is None else _lockdown.FEATURE_SCRATCH
        _lockdown.configure(features, -1, -1, -1, -1, -1, 0, _work(scratch))
        facts["disk"] = facts["disk"] or scratch is not None
        return facts
    if config["box"] == "filter":
        facts["seccomp"] = True
        return facts
    boxed = config["box"] == "namespaces"
    facts["landlock"] = abi = _lockdown.landlock_abi()
    facts["seccomp"] = True
    facts["scope"] = abi >= 6
    facts["proc"] = proc = boxed and _own_proc()
    _keep_times(DEVICES if boxed else ())
    facts["pidns"] = boxed and _lockdown.may_unshare()
    facts["disk"] = facts["pidns"] or config["scratch"] is not None
    if not abi and not boxed:
        raise RuntimeError("level landlock needs Landlock (Linux 5.13, lsm=landlock,...)")
    config["features"] = _features(config, facts)
    facts["loopback"] = facts["pidns"] and _lockdown.may_loop_back()
    config["ruleset"] = config["wide_ruleset"] = -1
    if abi:
        rules = _rules(config, boxed, proc)
        config["ruleset"] = _lockdown.landlock_ruleset(rules, False)
        if config["scratch"] is not None:
            rules.append((config["scratch"], _lockdown.LANDLOCK_WORK))
        loopback = bool(facts["loopback"])
        if config["scratch"] is not None or loopback:
            config["wide_ruleset"] = _lockdown.landlock_ruleset(rules, loopback)
    return facts


def _work(scratch: str | None) -> str:
    """Return the directory that a job with disk works in."""
    return WORK if scratch is None else scratch + "/work"


def _features(config: dict[str, Any], facts: dict[str, Any]) -> int:
    """Return the FEATURE_ bits for what each job's lock-down is to do."""
    assert _lockdown is not None
    if facts["pidns"]:
        features = _lockdown.FEATURE_PIDNS | _lockdown.FEATURE_IPCNS
    else:  # process 1 can signal its namespace only; for others keeper.py ensures this
        if config["box"] == "namespaces" and os.getpid() != 1:
            raise RuntimeError("the box has no PID namespace of its own: is bwrap what it says?")
        features = _lockdown.FEATURE_SWEEP
    wanted = {
        _lockdown.FEATURE_CAPS: True,
        _lockdown.FEATURE_LANDLOCK: facts["landlock"] > 0,
        _lockdown.FEATURE_SCRATCH: config["scratch"] is not None,
        _lockdown.FEATURE_UID: config["uid"] is not None,
        # When memory is short, the kernel is to kill a job first.
        _lockdown.FEATURE_OOM: config["proc_fd"] is not None
        or os.access("/proc/self/oom_score_adj", os.W_OK),
    }
    return features | sum(bit for bit, want in wanted.items() if want)


def lay_out_memory(play: Callable[[], object]) -> None:
    """Lay out memory so that forks are cheap; `play` does the least that a job does."""
    if _lockdown is not None:
        memory.lay_out(play)


def seal(config: dict[str, Any], facts: dict[str, Any]) -> None:
    """Give up what only the set-up needed; after this the agent serves.

    `facts` are those that `prepare` has returned; one that fails now is set to False.
    """
    if _lockdown is not None and config["home"] is not None:
        # Each step of a job wakes the next process: on another CPU that process would often wait
        # for its turn while this CPU does nothing.
        with contextlib.suppress(OSError):
            _lockdown.stay_on(config["home"])
    if config["box"] == "none":
        return
    if _lockdown is None:
        fallback.give_up()
        return
    lacks = _lacks(config)
    if config["box"] == "landlock":
        keeper.drop(config)
    if config["box"] == "filter":  # only the filter is to be installed; a container is around us
        _lockdown.configure(_lockdown.FEATURE_CAPS, -1, -1, -1, -1, -1, 0, WORK)
        _lockdown.install_seccomp(lacks)
        return
    pidfd = os.pidfd_open(os.getpid())  # means our PID namespace; needs no /proc, unlike ns/pid
    proc = -1 if config["proc_fd"] is None else config["proc_fd"]
    last_pid = -1 if config["last_pid_fd"] is None else config["last_pid_fd"]
    _lockdown.configure(
        config["features"], config["ruleset"], config["wide_ruleset"], pidfd, proc, last_pid,
        config["uid"] or 0, _work(config["scratch"]),
    )  # fmt: skip
    with contextlib.suppress(PermissionError):  # needs a capability; no_new_privs is set anyway
        _lockdown.drop_bounding()  # no execve gains a capability; the agent keeps its own
    if facts["loopback"]:
        try:
            _lockdown.install_seccomp(lacks | _lockdown.BROKERED)
        except OSError:  # an old kernel, or somebody around us watches our system calls
            facts["loopback"] = False
        else:
            return
    _lockdown.install_seccomp(lacks)


def _lacks(config: dict[str, Any]) -> int:
    """Return the bits for the missing protections that the filter must make up for."""
    assert _lockdown is not None
    lacks = 0
    if config["box"] != "namespaces":
        lacks |= _lockdown.NO_BOX | _lockdown.SHARED_FILES
    elif config["scratch"] is not None:  # our user's directory, which outlives a job
        lacks |= _lockdown.SHARED_FILES
    if "memory" not in config["controls"]:
        lacks |= _lockdown.MEMORY_UNCOUNTED
    if "cpu" not in config["controls"]:
        lacks |= _lockdown.CPU_UNCOUNTED
    return lacks


def _keep_times(devices: tuple[str, ...]) -> None:
    """Keep the times of devices as they are, whatever is written to them."""
    assert _lockdown is not None
    for name in devices:
        with contextlib.suppress(OSError):  # no right to mount here; `proctor selftest` reports it
            _lockdown.keep_times(f"/dev/{name}")


def _own_proc() -> bool:
    """Replace the box's /proc by one that hides other processes; keep the box's if refused."""
    assert _lockdown is not None
    try:
        _lockdown.mount_proc()
    except OSError:
        return False
    return True


def _rules(config: dict[str, Any], boxed: bool, proc: bool) -> list[tuple[str, int]]:
    assert _lockdown is not None
    rules = [(path, _lockdown.LANDLOCK_READ) for path in config["readable"]]
    rules.append(("/dev/null", _lockdown.LANDLOCK_DEVICE))
    # /dev/zero mapped for writing is shared memory, which goes unseen where memory is not counted.
    counted = "memory" in config["controls"]
    zero = _lockdown.LANDLOCK_DEVICE if counted else _lockdown.LANDLOCK_READ
    rules.append(("/dev/zero", zero))
    rules += [("/dev/urandom", _lockdown.LANDLOCK_READ), ("/dev/random", _lockdown.LANDLOCK_READ)]
    if proc:
        rules.append(("/proc", _lockdown.LANDLOCK_READ))
    if boxed and config["scratch"] is None:
        # On the parent of the work directory: a rule on the directory itself would not cover the
        # file system that a job with disk mounts over it.
        rules.append((os.path.dirname(WORK), _lockdown.LANDLOCK_WORK))
    return rules


def serve(control_fd: int, get_ready: GetReady) -> tuple[int, str]:
    """Serve the host's requests; returns (kind, function) in a locked-down job, never here."""
    if _lockdown is None:
        return fallback.serve(control_fd, get_ready)
    kind, function = _lockdown.serve(control_fd, get_ready)
    return kind, function.decode("utf-8", "surrogatepass")


def serve_tests(feed_fd: int) -> None:
    """Fork one process per test that arrives on the feed; returns in the test's process only."""
    if _lockdown is None:
        fallback.serve_tests(feed_fd)
    else:
        _lockdown.serve_tests(feed_fd)


def serve_session(feed_fd: int) -> None:
    """Fork one process per program that arrives on the feed; returns in the program's only."""
    assert _lockdown is not None  # the host refuses sessions without the C part
    _lockdown.serve_session(feed_fd)
