"""The store of a run: one directory with one SQLite database.

What `write` has taken is on the disk when it returns (WAL, synchronous=FULL), so whatever is shown
after that survives a kill. One process writes at a time; any number may read meanwhile. Secrets
never come here: settings hold no key, and prompts and replies are those of the benchmark.
"""

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.evals.models.model import TokenUsage, request_key
from proctor.evals.redaction import redacted_settings
from proctor.evals.store_file import FILE, connected, is_begun, locked, reading, stamp
from proctor.evals.store_rows import check_rows
from proctor.evals.store_tables import complete_tables, make_tables, selected
from proctor.evals.stored import (
    Change,
    Generation,
    ProblemInfo,
    Prompt,
    Sample,
    SampleJudgement,
    Turn,
    columns,
    from_row,
    to_row,
)
from proctor.signatures import is_signed

SIGNATURES = "signatures"
"""Key of a run's signatures, by setting, in its record; `run` is a number that binds them."""
SCHEMA = 2
"""Version of the tables."""
_PAGE = 100
"""Number of samples read at once: replies may be long."""
_PAGE_WITHOUT_TEXTS = 1000


@dataclass(frozen=True, slots=True)
class Missing:
    """Steps that a sample still lacks."""

    sample: int
    generation: Generation | None
    """Reply to be judged; None where the model has to be asked."""
    modes: tuple[str, ...]
    """Modes in which it has not been judged."""


class RunStore:
    """An open run. Raises InputError for a directory that holds none or cannot be used."""

    def __init__(self, directory: Path, lock: int | None) -> None:
        """Open a run; without a lock for reading only, so that nothing of it is changed."""
        self.directory = directory
        # Reads by one thread must not happen within another thread's transaction.
        self._connection = reading(directory) if lock is None else connected(directory)
        self._writer = self._connection if lock is None else connected(directory)
        self._lock = lock
        self.is_new = False
        """True if this process has begun the run."""

    @classmethod
    def create(cls, directory: Path, settings: Mapping[str, Any]) -> Self:
        """Begin a run in a new or empty directory, and hold it for writing."""
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=str(directory)) from error
        lock = locked(directory)
        if (directory / FILE).exists() and is_begun(directory):
            os.close(lock)
            raise SettingsError(
                f"{directory} already holds a run: go on with `proctor resume {directory}`, "
                "or name another directory by --out"
            )
        for rest in directory.glob(f"{FILE}*"):  # left by a run killed before it was begun
            rest.unlink()
        store = cls(directory, lock)
        store.is_new = True
        with store._writer as connection:
            make_tables(connection)
        store.remember({
            "schema": SCHEMA,
            "settings": redacted_settings(settings),
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        })  # fmt: skip
        return store

    @classmethod
    def open(cls, directory: Path, *, write: bool = False) -> Self:
        """Open a run that was begun, to read it or to `write` too.

        Raises SettingsError if it is to be written and another process does so.
        """
        if not (directory / FILE).is_file() or not is_begun(directory):
            raise InputError("holds no run; `proctor runs` lists those there are",
                             file=str(directory))  # fmt: skip
        store = cls(directory, locked(directory) if write else None)
        if (schema := store.recall("schema")) != SCHEMA:
            store.close()
            raise InputError(
                f"is of another version of proctor (tables {schema}, not {SCHEMA}); use that one",
                file=str(directory),
            )
        try:
            with store.transaction() as connection:
                complete_tables(connection, write=write)
                if not was_begun_here(store.recall(SIGNATURES)):
                    check_rows(connection, directory / FILE, stamp(directory))
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the database and let others write."""
        self._connection.close()
        self._writer.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit what is done with the connection, all or nothing. Raises InputError."""
        try:
            with self._writer:
                yield self._writer
        except sqlite3.Error as error:
            raise InputError(
                f"cannot be written: {error}", file=str(self.directory / FILE)
            ) from error

    def remember(self, values: Mapping[str, Any]) -> None:
        """Keep values of the run as a whole, each JSON."""
        with self.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [(name, _json(value)) for name, value in values.items()],
            )

    def recall(self, name: str) -> Any:
        """Return a value of the run as a whole; None if there is none."""
        row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        try:
            return None if row is None else msgspec.json.decode(row[0])
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"its {name} is no JSON: {error}", file=str(self.directory)) from error

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that the run was begun with, without secrets."""
        found = self.recall("settings")
        return redacted_settings(found) if isinstance(found, dict) else {}

    @property
    def begun(self) -> str:
        """Time at which the run was begun: ISO, UTC."""
        found = str(self.recall("begun"))
        try:
            datetime.fromisoformat(found)
        except ValueError:  # not there, or a stranger's
            return self.changed
        return found

    @property
    def changed(self) -> str:
        """Time at which the run was last written to: ISO, UTC."""
        return datetime.fromtimestamp(stamp(self.directory)[0] / 1e9, UTC).isoformat(
            timespec="seconds"
        )

    def plan(self, problems: Iterable[tuple[ProblemInfo, int]]) -> None:
        """Lay down the problems and how many samples each gets, all at once or not at all.

        Raises InputError for a problem with half a surrogate pair in its texts.
        """
        with self.transaction() as connection:
            for position, (info, count) in enumerate(problems):
                try:
                    text = _json(info)
                except UnicodeEncodeError as error:
                    raise InputError(
                        f"problem {info.id!r} has half a surrogate pair in its texts, which is no "
                        "character; mend the row, or leave the problem out"
                    ) from error
                connection.execute(
                    "INSERT INTO problem VALUES (?, ?, ?)", (position, info.id, text)
                )
                connection.executemany(
                    "INSERT INTO sample VALUES (?, ?)", [(info.id, n) for n in range(count)]
                )
            connection.execute("INSERT INTO meta VALUES ('planned', 'true')")

    def leave_out(self, problems: Collection[str], reason: str) -> None:
        """Remove problems of which no sample was made, and count them as left out."""
        left_out = Counter(self.recall("left_out") or {}) + Counter({reason: len(problems)})
        with self.transaction() as connection:
            for table, column in (("problem", "id"), ("sample", "problem_id")):
                connection.executemany(
                    f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608
                    [(each,) for each in problems],
                )
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('left_out', ?)", (_json(left_out),)
            )

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Read rows by the caller's query."""
        return self._connection.execute(query, values)

    def problems(self) -> Iterator[ProblemInfo]:
        """Read all problems of the run, in the order of their source."""
        for (text,) in self._connection.execute("SELECT info FROM problem ORDER BY position"):
            yield msgspec.json.decode(text, type=ProblemInfo)

    def problem(self, problem_id: str) -> ProblemInfo:
        """Read one problem. Raises InputError if the run does not have it."""
        row = self._connection.execute(
            "SELECT info FROM problem WHERE id = ?", (problem_id,)
        ).fetchone()
        if row is None:
            raise InputError(f"has no problem {problem_id!r}", file=str(self.directory))
        return msgspec.json.decode(row[0], type=ProblemInfo)

    def count(self) -> int:
        """Count the samples that the run is to have."""
        return int(self._connection.execute("SELECT count(*) FROM sample").fetchone()[0])

    def unasked(self) -> int:
        """Count the samples that the model has still to be asked for."""
        return self.count() - int(
            self._connection.execute("SELECT count(*) FROM generation").fetchone()[0]
        )

    def lacks(self, *, faults: bool) -> bool:
        """Return True if a reply is missing; with `faults`, one that ended in a fault is, too."""
        failed = self._connection.execute("SELECT 1 FROM generation WHERE fault != '' LIMIT 1")
        return self.unasked() > 0 or (faults and failed.fetchone() is not None)

    def tokens(self) -> TokenUsage:
        """Add up prompt, completion and cached tokens of the replies that have counts."""
        found = self._connection.execute(
            "SELECT sum(prompt_tokens), sum(completion_tokens), "
            "sum(min(prompt_tokens, coalesce(cached_tokens, 0))) FROM generation "
            "WHERE prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL"
        ).fetchone()
        prompt, completion, cached = (int(each or 0) for each in found)
        return TokenUsage(prompt, completion, cached=cached)

    def recorded(self, judges: Mapping[str, str]) -> int:
        """Count samples with a fault or a judgement by these; with a reply if there is no judge."""
        if not judges:
            return self.count() - self.unasked()
        query = (
            "SELECT count(*) FROM generation g WHERE g.fault != '' OR EXISTS ("  # noqa: S608
            "SELECT 1 FROM judged j WHERE j.problem_id = g.problem_id AND j.sample = g.sample "
            f"AND (0{' OR (j.mode = ? AND j.judge = ?)' * len(judges)}))"
        )
        values = [value for each in judges.items() for value in each]
        return int(self._connection.execute(query, values).fetchone()[0])

    def unfinished(self, judges: Mapping[str, str]) -> int:
        """Count samples that lack a reply, or a judgement; `judges` has a key per mode."""
        finished = "SELECT count(*) FROM generation g WHERE g.fault != '' OR (1"
        values: list[str] = []
        for mode, key in judges.items():
            finished += (
                " AND EXISTS (SELECT 1 FROM judged j WHERE j.problem_id = g.problem_id "
                "AND j.sample = g.sample AND j.mode = ? AND j.judge = ?)"
            )
            values += [mode, key]
        return self.count() - int(self._connection.execute(finished + ")", values).fetchone()[0])

    def write(self, changes: Iterable[Change]) -> None:
        """Commit generations, turns, judgements and prompts, all or none; durable on return."""
        with self.transaction() as connection:
            for change in changes:
                if isinstance(change, Prompt):
                    connection.execute(
                        "INSERT OR IGNORE INTO prompt VALUES (?, ?)", (change.hash, change.messages)
                    )
                    continue
                names = columns(type(change))
                connection.execute(
                    f"INSERT OR REPLACE INTO {change.TABLE} ({', '.join(names)}) "  # noqa: S608
                    f"VALUES ({', '.join('?' * len(names))})",
                    to_row(change),
                )

    def prompt(self, digest: str) -> list[dict[str, Any]] | None:
        """Return the messages of the prompt with this hash."""
        row = self._connection.execute(
            "SELECT messages FROM prompt WHERE hash = ?", (digest,)
        ).fetchone()
        return None if row is None else list(msgspec.json.decode(row[0]))

    def hash_of_prompts(self) -> str:
        """SHA-256 over the hashes of all prompts that were sent, first 16 digits; "" for none."""
        total = hashlib.sha256()
        digest = ""
        for (digest,) in self._connection.execute("SELECT hash FROM prompt ORDER BY hash"):
            total.update(digest.encode())
        return total.hexdigest()[:16] if digest else ""

    def levels(self, judges: Iterable[str]) -> list[str]:
        """Return the isolation levels that these judges' programs ran at."""
        found: set[str] = set()
        for judge in judges:
            rows = self._connection.execute(
                "SELECT DISTINCT level FROM judged WHERE judge = ? AND level != ''", (judge,)
            )
            found.update(level for (level,) in rows)
        return sorted(found)

    def missing(self, problem_id: str, judges: Mapping[str, str]) -> Iterator[Missing]:
        """Find a problem's samples that lack a reply, or a judgement; `judges` has a key per mode.

        A generation that ended in a fault counts as complete until `retry` forgets it. The texts of
        replies to be judged are left empty.
        """
        for sample in self.samples(problem_id, texts=False, exact=True):
            generation = sample.generation
            if generation is None:
                yield Missing(sample.number, None, tuple(judges))
            elif not generation.fault:
                made = {(each.mode, each.judge) for each in sample.judgements}
                if lacking := tuple(mode for mode in judges if (mode, judges[mode]) not in made):
                    yield Missing(sample.number, generation, lacking)

    def samples(
        self, problem_id: str | None = None, *, texts: bool = True, exact: bool = False
    ) -> Iterator[Sample]:
        """Read all samples with their judgements, a page at a time, by problem and number.

        Without `texts`, texts of replies and results of tests are empty; see from_row for `exact`.
        """
        after: tuple[str, int] = ("" if problem_id is None else problem_id, -1)
        where = "(s.problem_id, s.sample) > (?, ?)"
        if problem_id is not None:
            where = "s.problem_id = ? AND s.sample > ?"
        page = _PAGE if texts else _PAGE_WITHOUT_TEXTS
        query = (
            f"SELECT s.problem_id, s.sample, {selected(Generation, texts, 'g.', 2)} "  # noqa: S608
            "FROM sample s LEFT JOIN generation g "
            "ON g.problem_id = s.problem_id AND g.sample = s.sample "
            f"WHERE {where} ORDER BY s.problem_id, s.sample LIMIT {page}"
        )
        while rows := self._connection.execute(query, after).fetchall():
            judgements = self._judgements(rows[0][:2], rows[-1][:2], texts)
            for row in rows:
                key = (row[0], row[1])
                generation = None if row[2] is None else from_row(Generation, row, exact=exact)
                yield Sample(row[0], row[1], generation, tuple(judgements.get(key, ())))
            after = (rows[-1][0], rows[-1][1])

    def sample(self, problem_id: str, number: int) -> Sample | None:
        """Read one sample with its judgements; None if it was not made."""
        row = self._connection.execute(
            f"SELECT {selected(Generation)} FROM generation "  # noqa: S608
            "WHERE problem_id = ? AND sample = ?",
            (problem_id, number),
        ).fetchone()
        if row is None:
            return None
        judgements = self._connection.execute(
            f"SELECT {selected(SampleJudgement)} FROM judged "  # noqa: S608
            "WHERE problem_id = ? AND sample = ?",
            (problem_id, number),
        )
        made = tuple(from_row(SampleJudgement, each) for each in judgements)
        return Sample(problem_id, number, from_row(Generation, row), made)

    def _judgements(
        self, first: tuple[str, int], last: tuple[str, int], texts: bool
    ) -> dict[tuple[str, int], list[SampleJudgement]]:
        found: dict[tuple[str, int], list[SampleJudgement]] = {}
        for row in self._connection.execute(
            f"SELECT {selected(SampleJudgement, texts)} FROM judged "  # noqa: S608
            "WHERE (problem_id, sample) >= (?, ?) AND (problem_id, sample) <= (?, ?)",
            (*first, *last),
        ):
            found.setdefault((row[0], row[1]), []).append(from_row(SampleJudgement, row))
        return found

    def turns(self, problem_id: str, sample: int) -> list[Turn]:
        """Read the turns of an agent, in order."""
        rows = self._connection.execute(
            f"SELECT {', '.join(columns(Turn))} FROM turn "  # noqa: S608
            "WHERE problem_id = ? AND sample = ? ORDER BY number",
            (problem_id, sample),
        )
        return [from_row(Turn, row) for row in rows]

    def set_aside(self, verdicts: Collection[str], judges: Collection[str]) -> int:
        """Let these judges' judgements with these verdicts no longer count; returns how many.

        They stay in the store under another key, so that changes of verdicts remain visible.
        """
        number = int(self.recall("set_aside") or 0) + 1
        self.remember({"set_aside": number})
        with self.transaction() as connection:
            return sum(
                connection.execute(
                    "UPDATE judged SET judge = judge || ? WHERE verdict = ? AND judge = ?",
                    (f"~{number:06}", verdict, judge),
                ).rowcount
                for verdict in verdicts
                for judge in judges
            )

    def forget_faults(self) -> int:
        """Remove generations that ended in a fault, to be asked for again; returns how many.

        An agent's turns stay: it goes on with the one that failed. Requests that a batch failed to
        answer count as not asked; a reply that it brought is there still.
        """
        with self.transaction() as connection:
            rows = connection.execute(
                "SELECT problem_id, sample, prompt_hash FROM generation "
                "WHERE fault != '' AND fault != ?",
                (InfraFault.code,),
            )
            keys = ((request_key(*row),) for row in rows)
            connection.executemany("DELETE FROM asked WHERE key = ?", keys)
            return connection.execute("DELETE FROM generation WHERE fault != ''").rowcount

    def check(self) -> None:
        """Raise InputError if the database is damaged."""
        found = self._connection.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise InputError(f"is damaged: {found}", file=str(self.directory / FILE))


def was_begun_here(signatures: Any) -> bool:
    """Return True if the signatures of a run are of one that this user began on this machine."""
    made = signatures if isinstance(signatures, dict) else {}
    return is_signed(made.get("begun"), "run", made.get("run"))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# Old name, which works until 1.0.
Store = RunStore
