"""The problems of these tests, and the files that describe what is tried on them."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from proctor.grading import Checker, Comparison, Convention, Grading
from proctor.limits import MIB, Limits
from proctor.problem import (
    Aggregate,
    Batch,
    Communication,
    Content,
    Interactive,
    Problem,
    Running,
    Stub,
    Subtask,
    Test,
    TwoSteps,
)
from proctor.program import Program

HERE = Path(__file__).parent
SECRET = f"proctor-secret-{secrets.token_hex(16)}"
"""The answer that nobody can know; made anew for each run of the tests."""
LIMITS = Limits(cpu=1.0, memory=256 * MIB, output=4 * MIB)
LANGUAGES = {".cpp": "cpp17", ".c": "c", ".py": "python", ".java": "java"}
_HEADER = re.compile(
    r"(?://|#) Task: (?P<task>[a-z-]+)\. Must get: (?P<verdicts>[A-Z_ ]+)\."
    r"(?: Brings: (?P<brings>.+))?"
)


@dataclass(frozen=True, slots=True)
class Attack:
    """One file of attacks/."""

    path: Path
    task: str
    verdicts: frozenset[str]
    brings: tuple[str, ...]

    def program(self, places: Mapping[str, str]) -> Program:
        """The submission, told where on this machine the files are that it is after."""
        source = self.path.read_text()
        for name, place in places.items():
            source = source.replace(f"@{name}@", place)
        forged = dict.fromkeys(self.brings, b"#define FORGED\nint main() { }\n")
        return Program(source, LANGUAGES[self.path.suffix], files=forged)


def attacks() -> list[Attack]:
    """All that there are. Raises ValueError if one does not say what it is about."""
    found = []
    for path in sorted((HERE / "attacks").iterdir()):
        header = next(filter(None, map(_HEADER.fullmatch, path.read_text().splitlines())), None)
        if header is None or path.suffix not in LANGUAGES:
            raise ValueError(f"{path} does not say which task it is for and what it must get")
        verdicts = frozenset(header["verdicts"].split())
        found.append(
            Attack(path, header["task"], verdicts, tuple((header["brings"] or "").split()))
        )
    return found


def partner(name: str) -> Program:
    """A checker, interactor or manager of partners/ or referees/."""
    path = HERE / name
    return Program(path.read_text(), LANGUAGES[path.suffix])


def problem(
    name: str, data: str, answer: Content | None, running: Running | None = None,
    grading: Grading | None = None, **more: object,
) -> Problem:  # fmt: skip
    """A problem of one test."""
    test = Test(data, answer, name="1")
    subtask = Subtask("all", 100.0, ("1",), Aggregate.MIN)
    made = Problem(name, (test,), subtasks=(subtask,), limits=LIMITS, grading=Comparison())
    made = replace(made, running=running or Batch())
    if grading is not None:
        made = replace(made, grading=grading)
    return replace(made, **more)  # type: ignore[arg-type]


def problems(answer: Path) -> dict[str, Problem]:
    """The tasks of attacks/. `answer` is a file with the secret that anybody may read."""
    secret, done = answer, b"done 42\n"
    files = {name: (HERE / "partners" / name).read_bytes() for name in ("grader.cpp",)}
    files["twice.h"] = b"int twice(int number);\n"
    separate = partner("partners/separate.cpp")
    kattis = Interactive(partner("partners/guess.cpp"), Convention.KATTIS)
    python = Interactive(partner("partners/guess.py"), Convention.KATTIS)
    careless = Interactive(partner("partners/guess_input.py"), Convention.KATTIS)
    steps = Stub({
        "steps.cpp": (HERE / "partners" / "steps.cpp").read_bytes(),
        "steps.h": b"int encode(const char *word);\nconst char *decode(int number);\n",
    }, "solution.cpp")  # fmt: skip
    secret_word = f"{SECRET}\n".encode()
    checker = Checker(partner("partners/checker.py"), Convention.TESTLIB)
    return {
        each.id: each
        for each in (
            problem("echo", "word\n", b"word\n"),
            problem("secret", "word\n", secret),
            problem("checked", "word\n", secret, grading=checker),
            problem("grader", "21\n", done, stubs={"cpp": Stub(files, "solution.cpp")}),
            problem("file", "21\n", b"42\n", Batch("sum.in", "sum.out")),
            problem("separate", f"{SECRET}\n", None, Communication(separate, 2)),
            problem(
                "open-secret", f"{SECRET}\n", None, Communication(separate, 2, False, ("open",))
            ),
            problem("long-winded", "", None, Communication(partner("partners/long_winded.cpp"))),
            problem("steps", f"{SECRET}\n", secret_word, TwoSteps(), stubs={"cpp": steps}),
            problem("steps-open", "w\n", b"w\n", TwoSteps(), stubs={"cpp": steps}),
            problem("guess", "777\n", None, kattis),
            problem("guess-python", "777\n", None, python),
            problem("guess-input", "777\n", None, careless),
        )
    }
