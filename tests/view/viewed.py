"""A real `proctor view` in a process of its own, and runs that are made up for it."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from proctor.evals.rounds import begin_round
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import Change, ProblemInfo
from served import PROCTOR, Served, started

PROBLEM = "proctor-01-lantern-rows"


@contextmanager
def viewing(place: Path) -> Iterator[Served]:
    """Start one on a free port, and stop it as Ctrl-C does."""
    with started(PROCTOR, "view", str(place), "--port", "0", "--json") as served:
        yield served


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
        judges = begin_round(store, settings).judges
        store.plan(problems)
        store.write(changes)
    return judges


JUDGES = Settings(model="made up", source="nowhere.jsonl", mode="both").judges(0)
"""Keys of the judges of a run that is made up."""
