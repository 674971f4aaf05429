"""A run that is killed, again and again: nothing is lost, nothing is asked for twice."""

import os
import random
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest
from answers import right_reply
from command import COMMAND, environment
from run_content import content
from stub import Call, serving

from proctor.errors import InputError
from proctor.evals.store import FILE, RunStore
from waiting import PATIENCE

SAMPLES = 5
KILLS = int(os.environ.get("HARNESS_KILLS", "3"))


class Server:
    """Answers rightly, or not at all for every fifth sample; kills the client at a chosen call."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, int]] = Counter()
        self.fatal = 0
        """At which further call the client dies; 0 for never."""
        self.before_answer = False
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def __call__(self, call: Call) -> None:
        prompt = call.body["messages"][-1]["content"]
        title = prompt.partition("# ")[2].partition("\n")[0]
        with self.lock:
            self.calls[title, call.body["seed"]] += 1
            self.fatal -= 1
            fatal = self.fatal == 0
        if fatal and self.before_answer:
            self.kill()
        if call.body["seed"] % 5 == 4:
            call.reply("```python\nprint(1)\n```")
        else:
            call.reply(right_reply(prompt))
        if fatal and not self.before_answer:
            self.kill()

    def kill(self) -> None:
        assert self.child is not None
        self.child.send_signal(signal.SIGKILL)


def finished(directory: Path) -> set[tuple[str, int]]:
    """Title and number of the samples whose reply is in the store."""
    try:
        with RunStore.open(directory) as store:
            titles = {info.id: info.title for info in store.problems()}
            return {
                (titles[sample.problem_id], sample.number)
                for sample in store.samples()
                if sample.generation is not None
            }
    except InputError:
        return set()


@pytest.mark.slow
def test_killed_anywhere(tmp_path: Path) -> None:
    server = Server()
    chance = random.Random(5)
    with serving(server) as stub:
        begin = [
            COMMAND, "eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--n",
            str(SAMPLES), "--seed", "0", "--max-connections", "3", "--json", "--out",
        ]  # fmt: skip
        calm = subprocess.run(
            [*begin, str(tmp_path / "calm")], env=environment(), capture_output=True,
            timeout=PATIENCE,
        )  # fmt: skip
        assert calm.returncode == 0, calm.stderr
        assert set(server.calls.values()) == {1}
        assert len(server.calls) == 4 * SAMPLES
        server.calls.clear()

        run = tmp_path / "run"
        for _ in range(KILLS):
            known = finished(run)
            before = {key: server.calls[key] for key in known}
            left = 4 * SAMPLES - len(known)
            if not left:
                break
            server.fatal = chance.randint(1, max(1, 2 * left // KILLS))
            server.before_answer = chance.random() < 0.5
            command = [COMMAND, "resume", str(run)] if known else [*begin, str(run)]
            if not known and (run / FILE).exists():  # killed with the plan laid down
                command = [COMMAND, "resume", str(run)]
            server.child = subprocess.Popen(
                command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            said, _ = server.child.communicate(timeout=PATIENCE)
            assert server.child.returncode == -signal.SIGKILL, said
            assert {key: server.calls[key] for key in known} == before, "paid twice"
            assert finished(run) >= known, "lost"
        server.fatal = 0
        known = finished(run)
        before = {key: server.calls[key] for key in known}
        last = subprocess.run(
            [COMMAND, "resume", str(run)], env=environment(), capture_output=True, timeout=PATIENCE
        )
        assert last.returncode == 0, last.stderr
        assert {key: server.calls[key] for key in known} == before
    assert content(run) == content(tmp_path / "calm")


@pytest.mark.slow
def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    """Else both would pay for the same samples."""
    waiting, go = threading.Event(), threading.Event()

    def answer(call: Call) -> None:
        waiting.set()
        go.wait(PATIENCE)
        call.reply("")

    with serving(answer) as stub:
        first = subprocess.Popen(
            [COMMAND, "eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
             "--limit", "1", "--out", str(tmp_path)],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            assert waiting.wait(PATIENCE)
            second = subprocess.run(
                [COMMAND, "resume", str(tmp_path)], env=environment(), capture_output=True,
                timeout=PATIENCE,
            )  # fmt: skip
            assert second.returncode == 2
            assert b"another process is at work" in second.stderr
            first.send_signal(signal.SIGTERM)
            said, _ = first.communicate(timeout=PATIENCE)
        finally:
            go.set()
            first.kill()
        assert first.returncode == 130, said
        assert b"proctor resume" in said
    with RunStore.open(tmp_path) as store:
        assert store.unasked() == 1
