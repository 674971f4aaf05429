"""Keys of judgements: digests of all that a verdict depends on.

Two judgements share a key only if they have the same problem (its content, not the form it came
in), program, settings and subtasks, were made by the same version of proctor with the same versions
of the languages' tools, and at the same isolation level, on the same architecture, beside the same
packages. Other differences, such as the machine's speed, are dealt with in keeping.py.
"""

import hashlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.grading import Checker
from proctor.judging.packed import pack, to_judge
from proctor.judging.per_problem import PerProblem
from proctor.judging.remote import payload_of
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.problem import Communication, Content, Interactive, Problem, Test, content_bytes
from proctor.program import Program
from proctor.version import JUDGING_VERSION, __version__


def content_key(
    problem: Problem,
    program: Program,
    settings: JudgeSettings,
    subtasks: Collection[str] | None = None,
) -> bytes:
    """Return a digest of what is to be judged; raises InputError if a test's file is gone."""
    wanted = None if subtasks is None else sorted(set(subtasks))
    payload = payload_of(program, settings, wanted)
    return hashlib.sha256(_digests.of(problem) + payload).digest()


def judgement_key(
    content: bytes, versions: Collection[tuple[str, str]], surroundings: str
) -> bytes:
    """Return the key of a judgement.

    `versions` are languages and the versions of their tools, `surroundings` is a digest from
    Judges.surroundings.
    """
    parts = (content, sorted(versions), surroundings, __version__, JUDGING_VERSION)
    return hashlib.sha256(msgspec.msgpack.encode(parts)).digest()


def languages_of(problem: Problem, program: Program) -> set[str]:
    """Return the ids of the submission's language and of those of the problem's own programs.

    Raises InputError for one that is not known.
    """
    names = [program.language]
    if isinstance(problem.grading, Checker):
        names.append(problem.grading.program.language)
    if isinstance(problem.running, Interactive):
        names.append(problem.running.interactor.language)
    if isinstance(problem.running, Communication):
        names.append(problem.running.manager.language)
    if problem.group_grading is not None and problem.group_grading.program is not None:
        names.append(problem.group_grading.program.language)
    return {registry.get(name).id for name in names}


def _digest(problem: Problem) -> bytes:
    """Return a problem's digest, without having all its tests in memory at once."""
    tests = tuple(_named(test) for test in problem.tests)
    return hashlib.sha256(pack(replace(to_judge(problem), tests=tests))).digest()


_digests = PerProblem(_digest)


def _named(test: Test) -> Test:
    """Return a test whose content is replaced by its digests."""
    files = None if test.files is None else {k: _name(v) for k, v in test.files.items()}
    output = None if test.output is None else _name(test.output)
    return replace(test, input=_name(test.input), output=output, files=files)


def _name(content: Content) -> str:
    if isinstance(content, Path):
        try:
            with content.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(str(error.strerror), file=str(content)) from error
    return hashlib.sha256(content_bytes(content)).hexdigest()
