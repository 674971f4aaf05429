"""A real `proctor view` in a process of its own, and runs that are made up for it."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec

from proctor.evals.own_runs import sign
from proctor.evals.rounds import begin_round
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import Change, ProblemInfo
from served import PROCTOR, started
from waiting import PATIENCE

PROBLEM = "proctor-01-lantern-rows"


@dataclass
class Viewed:
    begin: str
    """Address that was printed."""
    process: subprocess.Popen[str]
    log: str

    @property
    def url(self) -> str:
        return self.begin.partition("/?")[0]

    def client(self, **headers: str) -> httpx.Client:
        """A client that has the token, of which nothing else is known."""
        headers["Authorization"] = f"Bearer {self.begin.partition('token=')[2]}"
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE)

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        with self.client() as client:
            return client.get(path, params=parameters or None)

    def replay(self, target: Any) -> httpx.Response:
        """Ask for a replay as the page does."""
        with self.client(Origin=self.url) as client:
            return client.post("/api/replay", json=target)


@contextmanager
def viewing(place: Path) -> Iterator[Viewed]:
    """Start one on a free port, and stop it as Ctrl-C does."""
    with started(PROCTOR, "view", str(place), "--port", "0", "--json") as served:
        yield Viewed(served.url, served.process, served.log)


def content(run: Path) -> str:
    """Digest of what a run holds, however its database is laid out."""
    with RunStore.open(run) as store:
        found = [msgspec.json.encode(each) for each in store.samples()]
        found += [json.dumps(store.recall(name)).encode() for name in ("rounds", "settings")]
    return hashlib.sha256(b"\n".join(found)).hexdigest()


def made_up(
    place: Path, problems: Iterable[tuple[ProblemInfo, int]], changes: Iterable[Change]
) -> dict[str, str]:
    """Write a store; returns the keys of the judges, which judgements among `changes` may have."""
    settings = Settings(model="made up", source="nowhere.jsonl", mode="both")
    with RunStore.create(place, msgspec.to_builtins(settings)) as store:
        store.remember({"benchmark": "livecodebench", "source": "nowhere.jsonl"})
        sign(store)
        judges = begin_round(store, settings).judges
        store.plan(problems)
        store.write(changes)
    return judges


JUDGES = Settings(model="made up", source="nowhere.jsonl", mode="both").judges(0)
"""Keys of the judges of a run that is made up."""
