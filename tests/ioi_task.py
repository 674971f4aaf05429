"""Two small tasks of our own in the shape of the open-r1 data sets, and solutions to them.

`double`: Batch, with a grader, outputs compared without a checker. `guess`: Communication, two
processes, the manager prints a share of the points.
"""

import json
from pathlib import Path
from typing import Any

GRADER = """
#include "double.h"
#include <cstdio>
int main() { long long n; if (std::scanf("%lld", &n) != 1) return 1; std::printf("%lld \\n", twice(n)); }
"""
MANAGER = """
#include <cstdio>
#include <cstring>
int main(int argc, char **argv) {
    if (argc != 6 || std::strcmp(argv[5], "extra") != 0) return 1;
    FILE *from0 = std::fopen(argv[1], "r"), *to0 = std::fopen(argv[2], "w");
    FILE *from1 = std::fopen(argv[3], "r"), *to1 = std::fopen(argv[4], "w");
    long long n, a = 0, b = 0;
    if (std::scanf("%lld", &n) != 1) return 1;
    std::fprintf(to0, "%lld\\n", n); std::fflush(to0);
    bool ok = std::fscanf(from0, "%lld", &a) == 1;
    if (ok) { std::fprintf(to1, "%lld\\n", a); std::fflush(to1); ok = std::fscanf(from1, "%lld", &b) == 1; }
    std::printf("%s\\n", !ok || b < n ? "0.0" : b == n ? "1.0" : "0.5");
    std::fprintf(stderr, "%s\\n", ok && b == n ? "exact" : "not exact");
}
"""
STUB = """
#include "guess.h"
#include <cstdio>
#include <cstdlib>
int main(int argc, char **argv) {
    long long n;
    if (argc != 2 || std::scanf("%lld", &n) != 1) return 1;
    std::printf("%lld\\n", pass_on(std::atoi(argv[1]), n));
}
"""

SOLUTIONS = {
    "right": '#include "double.h"\nlong long twice(long long n) { return 2 * n; }\n',
    "small": '#include "double.h"\nlong long twice(long long n) { return n < 100 ? 2 * n : 0; }\n',
    "wrong": '#include "double.h"\nlong long twice(long long n) { return n; }\n',
    "crash": '#include "double.h"\n#include <cstdlib>\nlong long twice(long long) { std::exit(3); }\n',
    "broken": "long long twice(",
    "slow": '#include "double.h"\nlong long twice(long long n) { for (volatile int i = 0;; i = i + 1) {} return n; }\n',
}
GUESSES = {
    "exact": '#include "guess.h"\nlong long pass_on(int, long long n) { return n; }\n',
    "above": '#include "guess.h"\nlong long pass_on(int, long long n) { return n + 1; }\n',
    "crash": '#include "guess.h"\n#include <cstdlib>\nlong long pass_on(int who, long long) { if (who) std::abort(); return 1; }\n',
}


def subtask_rows(**changes: Any) -> list[dict[str, Any]]:
    """Rows of `double`: samples, small numbers, all."""
    named = {
        "0-samples": (0, ["0-1"]),
        "1-small": (40, ["1-1", "1-2"]),
        "2-all": (60, ["1-1", "1-2", "2-1"]),
    }
    return [
        {
            "year": 2024, "day": "day1", "id": "double", "name": "Double", "subtask": name, "statement": "",
            "score": points, "time_limit": 0.5, "memory_limit": 256 << 20, "score_precision": 2,
            "task_type": "Batch", "test_names": tests, "starting_code": "",
            "grader_files": [
                ["graders/double.h", "long long twice(long long n);\n"],
                ["graders/grader.cpp", GRADER],
                ["graders/grader_config.json", '{"code": "double", "task_type": "Batch"}'],
            ],
        } | changes
        for name, (points, tests) in named.items()
    ]  # fmt: skip


def guess_row(**changes: Any) -> dict[str, Any]:
    """The one row of `guess`."""
    config = {
        "task_type": "Communication",
        "task_type_parameters_Communication_num_processes": 2,
        "task_type_parameters_Communication_user_io": "std_io",
        "task_type_parameters_Communication_manager_args": "extra",
    }
    return {
        "year": 2023, "day": "day2", "id": "guess", "name": "Guess", "subtask": "1-all", "statement": "",
        "score": 100, "time_limit": 1.0, "memory_limit": 256 << 20, "score_precision": 2,
        "task_type": "Communication", "test_names": ["a", "b"], "starting_code": "",
        "grader_files": [
            ["graders/guess.h", "long long pass_on(int who, long long n);\n"],
            ["graders/manager.cpp", MANAGER],
            ["graders/stub.cpp", STUB],
            ["graders/grader_config.json", json.dumps(config)],
        ],
    } | changes  # fmt: skip


def test_rows() -> list[dict[str, Any]]:
    """Rows of both tasks' tests."""
    doubles = [("0-1", 3), ("1-1", 0), ("1-2", 99), ("2-1", 10**12)]
    rows = [
        {
            "year": 2024,
            "problem_id": "double",
            "test_name": name,
            "test_input": f"{n}\n",
            "test_output": f"{2 * n}\n",
        }
        for name, n in doubles
    ]
    return rows + [
        {
            "year": 2023,
            "problem_id": "guess",
            "test_name": name,
            "test_input": f"{n}\n",
            "test_output": "",
        }
        for name, n in (("a", 5), ("b", 70))
    ]


def write(path: Path, rows: list[Any]) -> Path:
    """A JSONL file."""
    path.write_bytes(_lines(rows))
    return path


def write_tasks(directory: Path) -> Path:
    """Both tasks as a directory of two tables."""
    directory.mkdir(exist_ok=True)
    write(directory / "subtasks.jsonl", [*subtask_rows(), guess_row()])
    write(directory / "test_cases.jsonl", test_rows())
    return directory


def submission(solution: str, **more: Any) -> dict[str, Any]:
    """A row for `double`."""
    return {"uuid": solution, "problem_id": "double", "code": SOLUTIONS[solution]} | more


CARD = b"""---
configs:
- {config_name: 2023, data_files: 2023/*}
- {config_name: 2024, data_files: 2024/*}
---
"""


def hub_sets() -> dict[str, dict[str, bytes]]:
    """Both tasks and some solutions as data sets of a hub."""
    tests = test_rows()
    by_task = {
        name: [row for row in tests if row["problem_id"] == name] for name in ("guess", "double")
    }
    return {
        "us/ioi": {
            "data/train-0.jsonl": _lines(subtask_rows()),
            "data/test-0.jsonl": _lines([guess_row()]),
        },
        "us/ioi-test-cases": {
            "README.md": CARD,
            "2023/train-0.jsonl": _lines(by_task["guess"]),
            "2024/train-0.jsonl": _lines(by_task["double"]),
        },
        "us/solutions": {"train.jsonl": _lines([submission("right"), submission("small")])},
    }


def _lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


test_rows.__test__ = False  # type: ignore[attr-defined]
