"""The file format of an attack, and its loader.

An attack is one Python file in `attacks/<group>/`. It begins with directives, one a line, before
the first line that is not a comment::

    # title: Signals to another process of the same user
    # kind: run
    # must: held

| directive | values |
|---|---|
| title | one line, what is tried |
| kind | `run`: one program; `judge`: a submission; `pair`: two programs in one cell, the second |
|      | after the first, separated by the line SECOND; `guess`: a submission that is judged again |
|      | and again, in two cells and all modes alternately; `compile`: a submission in another |
|      | language, which does not compile or prints `held`; `solve`: a generated solver, see |
|      | solving.py; `host`: a stranger to proctor itself, who sends it files, answers or |
|      | messages, or uses the same machine, see stranger.py |
| must | what has to happen; see RequiredOutcome. For `judge` and `guess` always `not AC`, for |
|      | `solve` and `host` always `held` |
| limits | any of `cpu=0.5 wall=1 memory=64M output=1M processes=16 disk=0 stack=8M loopback` |
| modes | judge and guess: some of `standard fast official`; all if left out |
| function | judge only: the function to call, for a function-call problem |
| language | compile only: the language, by its id; where it is missing the attack is not made |
| source | `printed`: the submission is what this file prints when it is run |
| needs | names of guarantees without which a level cannot hold this |
| ways | run only: ways into a cell, each of which is tried, some of WAYS; `run` if left out. Only |
|      | with `must: held` |
| alone | `yes`: nothing else runs at the same time |
| harmless | `yes`: may run where nothing holds it, at level none |

Programs of kind `run` and `pair` have `attacks/prelude.py` put before them, those of kind `guess`
`attacks/guesser.py`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable

from proctor.errors import InputError
from proctor.execution import GUARANTEES, Execution, LimitHit
from proctor.limits import MIB, Limits

GROUPS = (
    "escape", "exhaustion", "compiling", "grader", "leakage", "locks", "oracle", "solver", "files",
    "neighbour", "protocols", "servers",
)  # fmt: skip
MODES = ("standard", "fast", "official")
WAYS = ("run", "script", "command", "solver", "submission")
"""Ways into a cell: as servers and `run()` run programs, as `proctor run` does, by an interpreter
of its own, as solvers are run, and as a submission in standard mode."""
SECOND = "# --- second ---"
NOT_AC = "not AC"
HELD = "held"
LIMITS = Limits(cpu=2.0, memory=64 * MIB, output=MIB, processes=16, stack=8 * MIB)
"""Limits of an attack that names none: small, so that exhausting them is quick."""

_DIRECTIVE = re.compile(r"# ([a-z]+):(.*)")
_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_IN_BYTES = ("memory", "output", "disk", "stack")


class AttackKind(StrEnum):
    """How an attack is carried out."""

    RUN = "run"
    JUDGE = "judge"
    PAIR = "pair"
    GUESS = "guess"
    SOLVE = "solve"
    HOST = "host"
    COMPILE = "compile"


_SUBMISSIONS = (AttackKind.JUDGE, AttackKind.GUESS)
_KINDS = {
    "modes": _SUBMISSIONS,
    "function": (AttackKind.JUDGE,),
    "source": (AttackKind.JUDGE, AttackKind.COMPILE),
    "language": (AttackKind.COMPILE,),
    "ways": (AttackKind.RUN,),
}
"""Directive -> the kinds that it is for, if not for all."""


@dataclass(frozen=True, slots=True)
class RequiredOutcome:
    """Required end of a run: one of several alternatives, joined by ` or `.

    `held` (it ended with code 0 and printed a `held` line), `limit NAME`, `exit nonzero`, `signal`,
    `any end`. Whatever is expected, a run that printed a `through` line has not met it.
    """

    text: str
    alternatives: tuple[str, ...]

    def met(self, execution: Execution) -> bool:
        """Return True if the run ended in one of these ways."""
        return said(execution, "through") is None and any(
            _happened(alternative, execution) for alternative in self.alternatives
        )


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack, ready to be run."""

    group: str
    stem: str
    title: str
    kind: AttackKind
    must: RequiredOutcome | None
    """None for kinds judge and guess: any verdict but AC."""
    parts: tuple[str, ...]
    """Source texts: one program, or two for a pair."""
    limits: Limits = LIMITS
    modes: tuple[str, ...] = MODES
    function: str | None = None
    language: str = ""
    printed: bool = False
    needs: tuple[str, ...] = ()
    ways: tuple[str, ...] = ("run",)
    alone: bool = False
    harmless: bool = False

    @property
    def name(self) -> str:
        """Name by which it is chosen and shown, group/stem."""
        return f"{self.group}/{self.stem}"

    @property
    def must_text(self) -> str:
        """Required end, for readers."""
        return NOT_AC if self.must is None else self.must.text


def said(execution: Execution, word: str) -> str | None:
    """Return the rest of the last line that begins with `word`; None if there is no such line."""
    for line in reversed(execution.stdout[-65536:].decode("utf-8", "replace").splitlines()):
        if line == word or line.startswith(f"{word}: "):
            return line[len(word) + 2 :]
    return None


def _happened(alternative: str, execution: Execution) -> bool:
    match alternative.split():
        case ["held"]:
            return execution.ok and said(execution, "held") is not None
        case ["limit", name]:
            return execution.limit == name
        case ["exit", "nonzero"]:
            return execution.limit is None and bool(execution.exit_code)
        case ["signal"]:
            return execution.limit is None and execution.signal is not None
    return True  # any end will do


def parse(text: str, group: str, stem: str, file: str) -> Attack:
    """Read one attack. Raises InputError, which names the file and the line."""
    reader = _Reader(file)
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            break
        reader.directive(number, line)
    return reader.attack(group, stem, text)


def load(names: Iterable[str] = (), groups: Iterable[str] = ()) -> list[Attack]:
    """Return the attacks of these names (`group/name` or `name`) and groups; all if none is given.

    Raises InputError for a name or group that is not there, and for a bad file.
    """
    found = [
        parse(entry.read_text("utf-8"), group, entry.name.removesuffix(".py"), str(entry))
        for group in GROUPS
        for entry in sorted((_home() / group).iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".py")
    ]
    wanted, within = tuple(names), tuple(groups)
    for group in within:
        if group not in GROUPS:
            raise InputError(f"{group!r} is not one of {', '.join(GROUPS)}", field="--group")
    for name in wanted:
        if not any(name in (attack.name, attack.stem) for attack in found):
            raise InputError(f"there is no attack {name!r}", field="--only")
    if not wanted and not within:
        return found
    return [
        attack
        for attack in found
        if attack.group in within or attack.name in wanted or attack.stem in wanted
    ]


def prelude() -> str:
    """Return the source text that stands before programs of kind run and pair."""
    return (_home() / "prelude.py").read_text("utf-8")


def guesser() -> str:
    """Return the source text that stands before programs of kind guess."""
    return (_home() / "guesser.py").read_text("utf-8")


def inspection() -> str:
    """Return the harmless program that is run after each attack."""
    return (_home() / "inspection.py").read_text("utf-8")


def _home() -> Traversable:
    return files("proctor") / "selftest" / "attacks"


@dataclass
class _Reader:
    """Collects the directives of one file."""

    file: str
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def directive(self, number: int, line: str) -> None:
        found = _DIRECTIVE.fullmatch(line)
        if found is None:
            raise self.error("a directive is written `# name: value`", number)
        name, value = found[1], found[2].strip()
        if name not in _CHECKS:
            raise self.error(f"unknown directive {name!r}; known: {', '.join(_CHECKS)}", number)
        if name in self.values:
            raise self.error(f"directive {name!r} is there twice", number)
        if not _CHECKS[name].fullmatch(value):
            raise self.error(f"{value!r} is not a value for {name!r}", number)
        self.values[name], self.lines[name] = value, number

    def error(self, message: str, line: int | None = None) -> InputError:
        return InputError(message, file=self.file, line=line)

    def attack(self, group: str, stem: str, text: str) -> Attack:
        for name in ("title", "kind", "must"):
            if name not in self.values:
                raise self.error(f"directive {name!r} is missing", 1)
        kind = AttackKind(self.values["kind"])
        for name, kinds in _KINDS.items():
            if name in self.values and kind not in kinds:
                only = " and ".join(kinds)
                raise self.error(f"{name!r} is for kind {only} only", self.lines[name])
        return Attack(
            group, stem, self.values["title"], kind, self._must(kind), self._parts(kind, text),
            limits=self._limits(),
            modes=self._words("modes", MODES) or MODES,
            function=self.values.get("function"),
            language=self.values.get("language", ""),
            printed="source" in self.values,
            needs=self._words("needs", GUARANTEES),
            ways=self._words("ways", WAYS) or ("run",),
            alone="alone" in self.values,
            harmless="harmless" in self.values,
        )  # fmt: skip

    def _must(self, kind: AttackKind) -> RequiredOutcome | None:
        text = self.values["must"]
        if (text == NOT_AC) is not (kind in _SUBMISSIONS):
            raise self.error(
                f"kinds judge and guess must be {NOT_AC!r}, and nothing else may be",
                self.lines["must"],
            )
        if kind in _SUBMISSIONS:
            return None
        if text != HELD and (kind in (AttackKind.SOLVE, AttackKind.HOST) or "ways" in self.values):
            raise self.error(f"must be {HELD!r} here", self.lines["must"])
        alternatives = tuple(text.split(" or "))
        known = {"held", "exit nonzero", "signal", "any end", *(f"limit {n}" for n in LimitHit)}
        for alternative in alternatives:
            if alternative not in known:
                raise self.error(
                    f"{alternative!r} is not one of {', '.join(sorted(known))}", self.lines["must"]
                )
        return RequiredOutcome(text, alternatives)

    def _parts(self, kind: AttackKind, text: str) -> tuple[str, ...]:
        parts = tuple(text.split(f"\n{SECOND}\n"))
        wanted = 2 if kind is AttackKind.PAIR else 1
        if len(parts) != wanted:
            raise self.error(
                f"kind {kind} has {wanted} program(s), this file has {len(parts)}, separated by"
                f" the line {SECOND!r}"
            )
        return parts

    def _words(self, name: str, known: tuple[str, ...]) -> tuple[str, ...]:
        words = tuple(self.values.get(name, "").split())
        for word in words:
            if word not in known:
                raise self.error(f"{word!r} is not one of {', '.join(known)}", self.lines[name])
        return words

    def _limits(self) -> Limits:
        changes: dict[str, float | int] = {}
        for part in self.values.get("limits", "").split():
            name, _, value = part.partition("=")
            if part == "loopback":
                changes[part] = True
                continue
            found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)", value)
            if name not in Limits.__slots__ or found is None:
                raise self.error(f"{part!r} is not a limit", self.lines["limits"])
            if found[2] and name not in _IN_BYTES:
                raise self.error(f"{part!r}: {name} is not a size", self.lines["limits"])
            number = float(found[1]) * _SIZES[found[2]]
            changes[name] = number if name in ("cpu", "wall") else int(number)
        try:
            return replace(LIMITS, **changes)  # type: ignore[arg-type]
        except InputError as error:
            raise self.error(str(error), self.lines["limits"]) from error


_CHECKS = {
    name: re.compile(pattern)
    for name, pattern in {
        "title": r".+",
        "kind": "|".join(AttackKind),
        "must": r".+",
        "limits": r".+",
        "modes": r".+",
        "function": r"\w+",
        "language": r"[a-z0-9-]+",
        "source": "printed",
        "needs": r".+",
        "ways": r".+",
        "alone": "yes",
        "harmless": "yes",
    }.items()
}
