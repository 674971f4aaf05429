"""Runs by batches that are killed at each stage: each request is paid for once, nothing is lost."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from answers import right_reply
from batch_runs import APIS, CREATE, KEYS, RESULTS, STATE, arguments, once
from batch_stub import BatchStub
from command import COMMAND, environment
from run_content import content

from proctor.errors import InputError
from proctor.evals.store import RunStore
from waiting import PATIENCE, until

STUCK = "```python\nwhile True:\n    pass\n```"


def stuck(prompt: str) -> str:
    """Right, but for one problem, whose program runs until its time is up."""
    return STUCK if "# Lantern Rows\n" in prompt else right_reply(prompt)


class Kill:
    """Sends a signal to the command at its first call with this name."""

    def __init__(self, call: str, number: int = signal.SIGKILL) -> None:
        self.call, self.number = call, number
        self.child: subprocess.Popen[bytes] | None = None

    def __call__(self, call: str) -> None:
        if call == self.call and self.child is not None:
            child, self.child = self.child, None
            child.send_signal(self.number)
            if self.number == signal.SIGKILL:
                child.wait(PATIENCE)


def begin(api: str, stub: BatchStub, run: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, *arguments(api, stub, run, "--mode", "standard")], env=environment(**KEYS),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def resumed(run: Path) -> str:
    done = subprocess.run(
        [COMMAND, "resume", str(run), "--json"], env=environment(**KEYS), capture_output=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unfinished"] == 0
    return done.stderr.decode()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbs."""
    run = tmp_path_factory.mktemp("calm") / "run"
    with BatchStub(right_reply) as stub:
        child = begin("openai", stub, run)
        said, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, said
    assert json.loads(said)["standard"]["verdicts"] == {"AC": 4}
    return run


STAGES = [
    *((api, "before", CREATE[api]) for api in APIS),
    ("openai", "before", "POST /v1/files"),
    ("openai", "after", "POST /v1/files"),
    *((api, "after", CREATE[api]) for api in APIS),
    *((api, "halfway", CREATE[api]) for api in APIS),
    *((api, "after", STATE[api]) for api in APIS),
    *((api, "before", RESULTS[api]) for api in APIS),
    *((api, "halfway", RESULTS[api]) for api in APIS),
]


@pytest.mark.slow
@pytest.mark.parametrize(("api", "when", "call"), STAGES, ids=lambda each: each.replace(" ", "-"))
def test_killed_at(calm: Path, tmp_path: Path, api: str, when: str, call: str) -> None:
    run = tmp_path / "run"
    with BatchStub(right_reply) as stub:
        # A batch whose id was lost is told from others by Anthropic's results: it has to have ended.
        stub.polls = 2 if call == STATE[api] else 0
        kill = Kill(call)
        setattr(stub, when, kill)
        kill.child = child = begin(api, stub, run)
        _, said = child.communicate(timeout=PATIENCE)
        assert child.returncode == -signal.SIGKILL, said
        resumed(run)
        assert once(stub, 4)
        assert len(stub.batches) == 1
    left = [path.name for path in (run / "batches").iterdir()]
    assert left == ["1.jsonl"], "drafts are removed"
    assert content(run) == content(calm)


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_killed_while_judging(tmp_path: Path, api: str) -> None:
    run = tmp_path / "run"
    with BatchStub(stuck) as stub:
        child = begin(api, stub, run)
        # The fourth is at work until its time is up.
        until(lambda: judged(run) >= 3 or child.poll() is not None)
        assert child.poll() is None
        child.kill()
        child.communicate(timeout=PATIENCE)
        assert child.returncode == -signal.SIGKILL
        assert judged(run) == 3
        resumed(run)
        assert once(stub, 4)
        assert stub.calls[STATE[api]] == 1, "what is downloaded is not asked about"
    verdicts = [each[-1][0][2] for each in content(run)]
    assert sorted(verdicts) == ["AC", "AC", "AC", "TLE"]


def judged(run: Path) -> int:
    """Count samples with a verdict."""
    try:
        with RunStore.open(run) as store:
            return sum(bool(each.judgements) for each in store.samples(texts=False))
    except InputError:
        return 0


@pytest.mark.parametrize("api", APIS)
def test_interrupted_while_waiting(calm: Path, tmp_path: Path, api: str) -> None:
    """Ctrl-C leaves the batch at the provider, and says so."""
    run = tmp_path / "run"
    with BatchStub(right_reply) as stub:
        stub.polls = 2
        kill = Kill(STATE[api], signal.SIGINT)
        stub.after = kill  # type: ignore[assignment]
        kill.child = child = begin(api, stub, run)
        found, said = child.communicate(timeout=PATIENCE)
        assert child.returncode == 130, said
        assert f"{api} goes on with batch_1" in said.decode()
        assert (
            f"interrupted: 4 of 4 samples are left; `proctor resume {run}` goes on" in said.decode()
        )
        assert json.loads(found)["unfinished"] == 4
        assert "4 of 4 requests done" in resumed(run)
        assert once(stub, 4)
    assert content(run) == content(calm)


@pytest.mark.slow
def test_killed_before_a_batch_that_cannot_be_told(tmp_path: Path) -> None:
    """Anthropic's batch is at work, its id lost: nothing is handed in until it has ended."""
    run = tmp_path / "run"
    with BatchStub(right_reply) as stub:
        stub.polls = 1
        kill = Kill(CREATE["anthropic"])
        stub.after = kill  # type: ignore[assignment]
        kill.child = child = begin("anthropic", stub, run)
        child.communicate(timeout=PATIENCE)
        done = subprocess.run(
            [COMMAND, "resume", str(run)], env=environment(**KEYS), capture_output=True,
            timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 125
        assert b"batch_1 may be it" in done.stderr
        assert b"proctor resume" in done.stderr
        stub.batches["batch_1"]["polls"] = 1
        resumed(run)
        assert once(stub, 4)
