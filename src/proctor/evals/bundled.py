"""The benchmarks that come with proctor. A new one is an entry here, and a file or a module."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PYTHON_ONLY = ("mode", "test_timeout", "memory", "python", "packages", "preload")
"""Options of benchmarks whose programs are Python and whose limits are proctor's."""
DATED = ("platforms", "difficulties", "min_release_date", "max_release_date")
"""Options of benchmarks with dated problems of several platforms."""


@dataclass(frozen=True, slots=True)
class Family:
    """A benchmark, or several that one command of `proctor eval` chooses from."""

    summary: str
    """First sentence of the command's help."""
    modules: Mapping[str, str]
    """Places of benchmarks by name: a benchmark file in `proctor/bundled`, FILE#PART for one whose
    hub has a data set for each part, or MODULE:ATTRIBUTE. Each is read or imported when needed."""
    choice: str = ""
    """Option that chooses: a benchmark's name is FAMILY, or FAMILY/CHOICE."""
    first: str = ""
    """Choice for the benchmark whose name is FAMILY alone."""
    agentic: bool = False
    """True if agents can work on it."""
    more: tuple[str, ...] = ()
    """Options that it has besides those of all benchmarks."""
    without: tuple[str, ...] = ()
    """Options of all benchmarks that it lacks."""

    def benchmark(self, choice: str) -> str | None:
        """Return the name that a choice stands for; None for an unknown one."""
        return next((name for name in self.modules if self.choice_of(name) == choice), None)

    @property
    def choices(self) -> tuple[str, ...]:
        """All choices, in order."""
        return tuple(map(self.choice_of, self.modules))

    def choice_of(self, name: str) -> str:
        """Return the choice that stands for a benchmark."""
        return name.partition("/")[2] or self.first


FAMILIES = {
    "livecodebench": Family(
        "Ask for Python programs, repairs, or what code does; grade by LiveCodeBench's tests.",
        {
            "livecodebench": "proctor.evals.livecodebench.generation:BENCHMARK",
            "livecodebench/selfrepair": "proctor.evals.livecodebench.repair:BENCHMARK",
            "livecodebench/testoutputprediction": (
                "proctor.evals.livecodebench.output_prediction:BENCHMARK"
            ),
            "livecodebench/codeexecution": "proctor.evals.livecodebench.execution:BENCHMARK",
        },
        choice="scenario",
        first="codegeneration",
        agentic=True,
        more=("scenario", "language", "earlier", "upstream", "preset", *DATED),
    ),
    "humaneval": Family(
        "Ask for Python functions; grade by HumanEval's tests and, where there, HumanEval+'s.",
        {"humaneval": "humaneval.toml"},
    ),
    "mbpp": Family(
        "Ask for Python functions in words; grade by the asserts of MBPP.",
        {"mbpp": "mbpp.toml"},
        more=("few_shot",),
    ),
    "mbppplus": Family(
        "Ask for Python functions in words; grade by MBPP+'s inputs.",
        {"mbppplus": "mbppplus.toml"},
    ),
    "cruxeval": Family(
        "Ask what short Python functions return, or for inputs of theirs; grade by CRUXEval.",
        {
            "cruxeval/output": "cruxeval-output.toml",
            "cruxeval/input": "cruxeval-input.toml",
        },
        choice="task",
        more=("task",),
    ),
    "multipl-e": Family(
        "Ask for functions in many languages; grade by the translated tests of HumanEval.",
        {"multipl-e": "multipl-e.toml"},
        more=("language",),
    ),
    "humanevalfix": Family(
        "Ask to mend functions in four languages; grade by HumanEvalPack's tests.",
        {"humanevalfix": "humanevalfix.toml"},
        more=("language",),
    ),
    "bigcodebench": Family(
        "Ask for functions that use many libraries; grade by BigCodeBench's unit tests.",
        {"bigcodebench": "bigcodebench.toml"},
    ),
    "classeval": Family(
        "Ask for Python classes; grade by ClassEval's unit tests.",
        {"classeval": "classeval.toml"},
    ),
    "apps": Family(
        "Ask for Python programs and functions; grade by the tests of APPS.",
        {"apps": "apps.toml"},
        more=("platforms", "difficulties"),
    ),
    "taco": Family(
        "Ask for Python programs and functions; grade by the tests of TACO.",
        {"taco": "taco.toml"},
        more=("platforms", "difficulties"),
    ),
    "codecontests": Family(
        "Ask for programs in many languages; grade by the tests of CodeContests.",
        {"codecontests": "codecontests.toml"},
        more=("language", "platforms", "difficulties"),
    ),
    "codecontestsplus": Family(
        "Ask for programs in many languages; grade by CodeContests+'s tests and checkers.",
        {"codecontestsplus": "codecontestsplus.toml"},
        more=("language", "platforms"),
    ),
    "ds1000": Family(
        "Ask for code that uses numpy, pandas and the like; grade by DS-1000's tests.",
        {"ds1000": "ds1000.toml"},
        more=("platforms", "difficulties"),
    ),
    "evoeval": Family(
        "Ask to complete Python functions made of HumanEval's; grade by EvoEval's inputs.",
        {
            f"evoeval/{part}": f"evoeval.toml#{part}"
            for part in (
                "difficult",
                "creative",
                "subtle",
                "combine",
                "tool_use",
                "verbose",
                "concise",
            )
        },
        choice="task",
        more=("task",),
    ),
    "industryor": Family(
        "Ask to solve optimisation problems in words; grade by the optimum. NL4OPT and MAMO too.",
        {"industryor": "industryor.toml"},
        more=("difficulties",),
    ),
    "ioi": Family(
        "Ask for C++ programs for subtasks of the IOI; judge them, add up points.",
        {"ioi": "proctor.evals.ioi.benchmark:BENCHMARK"},
        more=("years", "all_subtasks", "medals"),
        without=PYTHON_ONLY,
    ),
}
MODULES = {name: place for family in FAMILIES.values() for name, place in family.modules.items()}
"""Places of all benchmarks, by name."""

FILE = "benchmark.toml"
"""Name of the benchmark file of a directory."""


def is_benchmark_file(name: str) -> bool:
    """Return True for the name of a benchmark file, or of a directory that has one.

    The name of a bundled benchmark is never taken for a directory.
    """
    if name.endswith(".toml"):
        return True
    try:
        return name.partition("/")[0] not in FAMILIES and (Path(name) / FILE).is_file()
    except OSError:
        return False
