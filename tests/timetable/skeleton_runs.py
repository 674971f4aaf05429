"""Programs that use the skeleton, run as a cell runs them: beside its files, without proctor."""

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from skeleton_cases import Json

from proctor.timetable import profile

ALONE = "\nimport sys\nassert not any(name.split('.')[0] == 'proctor' for name in sys.modules)\n"


@dataclass(frozen=True)
class Ran:
    code: int
    stdout: str
    stderr: str
    result: Json | None
    incumbents: list[Json]
    """As announced."""


def prepared(directory: Path, given: Json, program: str | None = None) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in profile.files().items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (directory / "input.json").write_text(json.dumps(given))
    (directory / "solver.py").write_text((program or profile.text()) + ALONE)
    return directory


def start(directory: Path, progress: int, **env: object) -> "subprocess.Popen[str]":
    """The program in a directory, announcing its incumbents to a descriptor."""
    return subprocess.Popen(
        [sys.executable, "solver.py"],
        cwd=directory,
        env={
            "PATH": os.environ["PATH"],
            "OPENBLAS_NUM_THREADS": "1",
            "SOLVER_PROGRESS_FD": str(progress),
            **{name: str(value) for name, value in env.items()},
        },
        pass_fds=[progress],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(directory: Path, given: Json, program: str | None = None, **env: object) -> Ran:
    prepared(directory, given, program)
    with (
        (directory / "announced").open("w") as progress,
        start(directory, progress.fileno(), **env) as process,
    ):
        stdout, stderr = process.communicate()
    return ended(directory, process.returncode, stdout, stderr)


def ended(directory: Path, code: int, stdout: str, stderr: str) -> Ran:
    path, announced = directory / "result.json", directory / "announced"
    rows = announced.read_text().splitlines() if announced.exists() else []
    result = json.loads(path.read_text()) if path.exists() else None
    return Ran(code, stdout, stderr, result, [json.loads(each) for each in rows])


def competition(rng: random.Random, courses: int, days: int = 5, periods: int = 4) -> str:
    """A made-up instance of the competition, with a timetable."""
    rooms = courses * 3 // (days * periods) + 2
    names = [f"c{number}" for number in range(courses)]
    curricula = [rng.sample(names, 3) for _ in range(courses)]
    closed = {
        (rng.choice(names), rng.randrange(days), rng.randrange(periods)) for _ in range(courses)
    }
    lines = [
        "Name: QueuedJudgement-up",
        f"Courses: {courses}",
        f"Rooms: {rooms}",
        f"Days: {days}",
        f"Periods_per_day: {periods}",
        f"Curricula: {len(curricula)}",
        f"Constraints: {len(closed)}",
        "\nCOURSES:",
        *(
            f"{name} t{number % (courses * 2 // 3)} {rng.randrange(1, 4)} {rng.randrange(1, 5)}"
            f" {rng.randrange(10, 60)}"
            for number, name in enumerate(names)
        ),
        "\nROOMS:",
        *(f"r{number}\t{rng.randrange(20, 60)}" for number in range(rooms)),
        "\nCURRICULA:",
        *(f"q{number} 3 {' '.join(each)}" for number, each in enumerate(curricula)),
        "\nUNAVAILABILITY_CONSTRAINTS:",
        *(" ".join(map(str, each)) for each in sorted(closed)),
        "\nEND.\n",
    ]
    return "\n".join(lines)
