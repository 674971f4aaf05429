"""Stored results, and the few ratios in them that can be compared over time."""

import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from proctor.judging.speed import REFERENCE, Speed

RESULTS = Path(__file__).parent / "results"
Document = dict[str, Any]


def _run_against_fork(document: Document) -> float:
    by_name = {one["name"]: one for one in document["run_latency"]["contestants"]}
    ratio: float = by_name["proctor.run"]["ratios"][1][1]
    return ratio


def _program_against_lcb_runner(document: Document) -> float:
    graders = document["livecodebench"]["graders"]
    ours, theirs = (graders[name]["cpu_s"] for name in ("proctor, official mode", "lcb_runner"))
    return statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))


def _request_against_process(document: Document) -> float:
    ours, theirs = (row["loads"] for row in document["serve"] if row["clients"] == 32)
    return statistics.median(
        mine["cpu_ms"] / other["cpu_ms"] for mine, other in zip(ours, theirs, strict=True)
    )


def _contest_against_compiling(document: Document) -> float:
    rounds = document["contest"]["rounds"]
    ours = statistics.median(each["proctor, nothing cached"]["cpu_s"] for each in rounds)
    each_test = "compiled for each test, no isolation"
    theirs: float = next(each[each_test]["cpu_s"] for each in rounds if each_test in each)
    return float(ours / theirs)


RATIOS: dict[str, Callable[[Document], float]] = {
    "an isolated run, against a bare os.fork": _run_against_fork,
    "a LiveCodeBench program, against lcb_runner": _program_against_lcb_runner,
    "a request to run print(1), against a process per request": _request_against_process,
    "A+B in C++ with 17 tests, against compiling for each test": _contest_against_compiling,
}
"""CPU of ours in CPU of another's in the same minutes, so that days can be compared."""


def ratios(document: Document) -> dict[str, float]:
    """Return those of RATIOS that a result has; `report` stores them with it, for later forms."""
    found = {}
    for name, ratio in RATIOS.items():
        try:
            found[name] = ratio(document)
        except (KeyError, StopIteration, TypeError):  # not measured there
            continue
    return found


def stored() -> Iterator[Document]:
    """Yield whole results, oldest first; those of --quick are too rough."""
    documents = [json.loads(path.read_text("utf-8")) for path in RESULTS.glob("*.json")]
    whole = [document for document in documents if not document["quick"]]
    yield from sorted(whole, key=lambda document: document["date"])


def machine(document: Document) -> str:
    """Name the machine in few words."""
    told = document["machine"]
    return f"{told['cpus']} × {told['model']}".replace("(R)", "").replace("(TM)", "")


def speed(document: Document) -> str:
    """Say in a sentence how fast the machine was; empty for results that do not have it."""
    told = document["machine"]
    if "speed" not in told:
        return ""
    then = [Speed.read(each) for each in (told["before"]["speed"], told["speed"])]
    said = f"The same Python took {_times([each.python for each in then], REFERENCE.python)}"
    natives = [each.native for each in then if each.native is not None]
    if natives and REFERENCE.native is not None:
        said += f", the same C++ {_times(natives, REFERENCE.native)},"
    return f"{said} the CPU time of the reference of `proctor doctor --speed`."


def _times(seconds: list[float], reference: float) -> str:
    return f"{statistics.mean(seconds) / reference:.1f} times"
