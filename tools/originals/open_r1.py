"""Asks open-r1's own reward functions for rewards by proctor, and prints a table.

    python tools/originals/open_r1.py CHECKOUT PROCTOR

CHECKOUT is a clone of github.com/huggingface/open-r1, PROCTOR the command `proctor`. To be run by a
Python that has datasets, latex2sympy2_extended, math-verify, aiohttp, async_lru, aiofiles, pandas
and pyarrow. Only open-r1's loading of models and data is left out; the problems are this file's.
Starts a server of its own. Exits with 1 if a reward is not what it must be.
"""

import json
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path

GRADER = """#include "double.h"
#include <cstdio>
int main() { long long n; std::scanf("%lld", &n); std::printf("%lld\\n", twice(n)); }
"""
DOUBLE = {
    "id": "double", "subtask": "01", "score": 100.0, "score_precision": 2, "time_limit": 1.0,
    "memory_limit": 1 << 28, "task_type": "Batch", "test_names": ["a", "b"],
    "test_cases": [["21\n", "42\n"], ["-4\n", "-8\n"]],
    "grader_files": [
        ["graders/double.h", "long long twice(long long n);\n"],
        ["graders/grader.cpp", GRADER],
        ["graders/grader_config.json",
         '{"task_type": "Batch", "time_limit": 1.0, "memory_limit": 268435456}'],
    ],
}  # fmt: skip
IOI = {
    "long long twice(long long n) { return 2 * n; }": 1.0,
    "long long twice(long long n) { return n < 0 ? 0 : 2 * n; }": 0.0,
    "long long twice(long long n) { for (;;) {} }": 0.0,
    "long long twice(long long n) { return }": 0.0,
}
"""Rewards by the function that a model writes."""
SQUARE = {
    "id": "1/A", "time_limit": 2.0, "memory_limit": 256.0, "input_mode": "stdio",
    "generated_checker": None,
    "official_tests": [{"input": "3\n", "output": "9\n"}, {"input": "-2\n", "output": "4\n"}],
}  # fmt: skip
MAIN = "#include <iostream>\nint main() {{ long long n; std::cin >> n; std::cout << {}; }}"
CODEFORCES = [
    ("cpp", MAIN.format("n * n"), 1.1),
    ("cpp", MAIN.format("(n > 0 ? n * n : 0)"), 0.05),
    ("cpp", MAIN.format("n * "), -0.1),
    ("cpp", "", -1.0),
    ("python", "print(int(input()) ** 2)", 1.1),
    ("python", "print(int(input()) * 3)", 0.05),
    ("python", "while True: pass", 0.0),
]
"""Language, program and reward."""


def main() -> int:
    """Ask for all rewards, print a line for each, and return the exit status."""
    checkout, proctor = Path(sys.argv[1]), sys.argv[2]
    serve = [proctor, "serve", "--port", "0", "--json", "--no-access-log"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        with tempfile.TemporaryDirectory() as tests:
            os.environ.update(PISTON_ENDPOINTS=f"{url}/api/v2", CF_TESTS_FOLDER=tests)
            rows = _rewards(_load(checkout))
    finally:
        server.terminate()
        server.wait()
    for name, wanted, found in rows:
        print(f"{'as there' if _same(found, wanted) else 'DIFFERS':9} {name}: {found}")
    return int(not all(_same(found, wanted) for _, wanted, found in rows))


def _load(checkout: Path) -> types.ModuleType:
    """Import open-r1's rewards, with an empty `open_r1.utils`: its own imports trainers."""
    parts = ("open_r1", "open_r1.utils", "open_r1.utils.import_utils")
    for name in parts:
        module = types.ModuleType(name)
        module.__path__ = [str(checkout / "src" / name.replace(".", "/"))]
        module.is_e2b_available = module.is_morph_available = lambda: False  # type: ignore[attr-defined]
        sys.modules[name] = module
    import importlib

    return importlib.import_module("open_r1.rewards")


def _rewards(rewards: types.ModuleType) -> list[tuple[str, float, float]]:
    ioi = rewards.ioi_code_reward(
        [_completion("cpp", program) for program in IOI],
        **{name: [value] * len(IOI) for name, value in DOUBLE.items()},
    )
    codeforces = rewards.cf_code_reward(
        [_completion(language, program) for language, program, _ in CODEFORCES],
        language=[language for language, _, _ in CODEFORCES],
        **{name: [value] * len(CODEFORCES) for name, value in SQUARE.items()},
    )
    named = [(f"ioi_code_reward of {each!r}", wanted) for each, wanted in IOI.items()]
    named += [(f"cf_code_reward of {each[-40:]!r}", wanted) for _, each, wanted in CODEFORCES]
    found = [*ioi, *codeforces]
    return [(name, wanted, reward) for (name, wanted), reward in zip(named, found, strict=True)]


def _completion(language: str, program: str) -> list[dict[str, str]]:
    return [{"content": f"```{language}\n{program}\n```" if program else "I do not know."}]


def _same(found: float, wanted: float) -> bool:
    return found is not None and abs(found - wanted) < 1e-9


if __name__ == "__main__":
    sys.exit(main())
