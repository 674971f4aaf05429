"""Interactive problems: a submission and an interactor, or its processes and a manager.

Each party has a cell of its own and shares nothing with the others but pipes. Which party failed
is decided by how all of them ended (see `decide`).
"""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from proctor.errors import InfraFault, NoIsolation
from proctor.execution import Execution, Isolation, LimitHit
from proctor.grading import Convention
from proctor.judgement import TestResult
from proctor.judging import checkers, outcome, passes
from proctor.judging.checkers import COLLECTED, FEEDBACK, Opinion
from proctor.judging.conversation import Interaction, Member, pipes
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import ANSWER, INPUT, LIMITS, OUTPUT, WRITES, OutputGrader
from proctor.languages.compiler import Built
from proctor.limits import Limits
from proctor.problem import Communication, Interactive, Test
from proctor.sandbox.command import Finished, Streams, first_inherited
from proctor.verdict import Verdict

_NOBODY_READS = b"Broken pipe"  # part of the message in Python, Java and strerror(3)
_NOTHING_TO_READ = b"EOFError"
_TAIL = 4096
_CMS_INPUT = "input.txt"


@dataclass(frozen=True, slots=True)
class Contact:
    """The two sides of an interaction, each compiled."""

    how: Interactive | Communication
    partner: Built
    """The interactor or manager."""
    submission: Built
    limits: Limits
    """Limits of each process of the submission."""
    grader: OutputGrader | None = None
    """Grader of what the interactor has written, or the manager printed, if one is needed."""


def run(
    contact: Contact, environment: JudgingEnvironment, test: Test
) -> tuple[TestResult, Isolation]:
    """Run one test, in as many passes as its validator asks for. Raises InputError, InfraFault."""
    most = contact.how.passes if isinstance(contact.how, Interactive) else 1
    return passes.run(partial(_twice, contact, environment), test, most)


def _twice(
    contact: Contact, environment: JudgingEnvironment, test: Test, feedback: passes.Files
) -> tuple[Execution, outcome.Failure | Opinion, passes.Files]:
    """Run the interaction, and once more if a cell dies."""
    try:
        return _once(contact, environment, test, feedback)
    except InfraFault:
        return _once(contact, environment, test, feedback)


def _once(
    contact: Contact, environment: JudgingEnvironment, test: Test, feedback: passes.Files
) -> tuple[Execution, outcome.Failure | Opinion, passes.Files]:
    how = contact.how
    if isinstance(how, Communication):
        if not environment.named_pipes:
            raise NoIsolation(
                "Communication tasks need /proc in cells, which this machine hides from them (a"
                " container's masked /proc): use level landlock, or run outside the container"
            )
        members = _with_manager(how, contact, test)
    else:
        members = _with_interactor(how, contact, test, feedback)
    partner, *users = Interaction(members).hold(environment)
    opinion = _opinion(how, partner, test)
    executions = [user.execution for user in users]
    found = decide(contact, users, partner, opinion)
    slowest = max(executions, key=lambda each: each.cpu)
    facts = replace(
        slowest,
        wall=max(each.wall for each in executions),
        memory=max(each.memory for each in executions),
    )
    checked = contact.grader is not None and isinstance(found, Opinion) and found.verdict.passed
    if contact.grader is not None and checked:
        printed = isinstance(how, Communication)
        written = partner.execution.stdout if printed else partner.files.get(OUTPUT, b"")
        found, _ = contact.grader.grade(environment, test, written)
    return facts, found, partner.files


def _with_manager(how: Communication, contact: Contact, test: Test) -> list[Member]:
    """The manager and the submission's processes.

    As in CMS: the manager's arguments are, for each process, the pipe it reads from and the one it
    writes to; a process is told its number if there are several, after the names of its own two
    pipes if it does not use stdin and stdout.
    """
    limits = contact.limits
    # Ends of pipes: from process i to the manager, and from the manager to process i.
    up, down = pipes(how.processes), pipes(how.processes)
    manager = contact.partner.command(memory=LIMITS.memory)
    at = first_inherited(manager)
    names = [_name(at + number) for number in range(2 * how.processes)]
    given = {_CMS_INPUT: test.input_bytes()} if _opens_input(how) else {}
    manager = contact.partner.command(
        [*names, *how.manager_args], memory=LIMITS.memory, files=given
    )
    inherit = [fd for i in range(how.processes) for fd in (up[i][0], down[i][1])]
    streams = Streams(test.input_bytes(), inherit=tuple(inherit), keep=True)
    members = [Member(manager, streams, contact.partner.limits(LIMITS, manager), grader=True)]
    for index in range(how.processes):
        number = [str(index)] if how.processes > 1 else []
        reads, writes = down[index][0], up[index][1]
        if how.fifo_io:
            user = contact.submission.command(memory=limits.memory, judged=True)
            first = first_inherited(user)
            words = [_name(first), _name(first + 1), *number]
            streams = Streams(b"", inherit=(reads, writes), keep=True)
        else:
            words, streams = number, Streams(reads, writes, keep=True)
        user = contact.submission.command(words, memory=limits.memory, judged=True)
        members.append(Member(user, streams, contact.submission.limits(limits, user)))
    return members


def _opens_input(how: Communication) -> bool:
    """Return whether a manager reads the test's input from a file, which CMS puts beside it."""
    sources = [how.manager.source.encode(errors="replace"), *how.manager.files.values()]
    return any(_CMS_INPUT.encode() in source for source in sources)


def _with_interactor(
    how: Interactive, contact: Contact, test: Test, feedback: passes.Files
) -> list[Member]:
    (up,), (down,) = pipes(1), pipes(1)
    files = {
        **feedback,
        INPUT: test.input_bytes(),
        ANSWER: test.output_bytes(),
    }
    kattis = how.convention is Convention.KATTIS
    args: tuple[str, ...] = (INPUT, OUTPUT, ANSWER)
    if kattis:
        args = (INPUT, ANSWER, FEEDBACK + "/")
    elif how.convention is Convention.EXIT_CODE:
        args = (INPUT, ANSWER)
    interactor = contact.partner.command(
        (*args, *how.flags, *test.flags),
        memory=LIMITS.memory,
        files=files,
        collect=COLLECTED if kattis else (OUTPUT,) if contact.grader else (),
        directories=(FEEDBACK,) if kattis else (),
    )
    own = contact.partner.limits(replace(LIMITS, cpu=how.cpu), interactor, writes=WRITES)
    user = contact.submission.command(test.args, memory=contact.limits.memory, judged=True)
    user = outcome.with_files(user, test)
    return [
        Member(interactor, Streams(up[0], down[1], keep=True), own, grader=True),
        Member(
            user,
            Streams(down[0], up[1], keep=True),
            contact.submission.limits(contact.limits, user),
        ),
    ]


def _name(fd: int) -> str:
    """Return a path by which a program opens a descriptor that it has inherited."""
    return f"/proc/self/fd/{fd}"


def _opinion(how: Interactive | Communication, partner: Finished, test: Test) -> Opinion:
    if isinstance(how, Communication):
        if how.graded and partner.execution.ok:
            return Opinion(Verdict.AC, 1.0)
        return checkers.opinion(Convention.SCORE, partner.execution, {}, who="manager")
    return checkers.opinion(
        how.convention, partner.execution, partner.files, stderr_scores=True, full=test.full,
        who="interactor",
    )  # fmt: skip


def decide(
    contact: Contact, users: Sequence[Finished], partner: Finished, opinion: Opinion
) -> outcome.Failure | Opinion:
    """Return the outcome of an interaction, given how every party ended.

    - A process of the submission that failed while the partner was still there decides: it may be
      why the partner failed. (Which of them ended first is always known: see Streams.) But if the
      process only seemed idle, and the partner did not end after it either, the partner hangs, and
      its opinion is returned.
    - A partner that failed is a fault of the task, unless it failed because the submission had
      ended or had closed its pipe.
    - If the partner had decided against the submission, that stands, however the submission ended
      after that. If it decided for it, every process of the submission must have succeeded too.
    """
    failures = [
        (user, outcome.failure(contact.submission, user.execution, contact.limits))
        for user in users
    ]
    before = [why for user, why in failures if why is not None and not user.hung_up]
    if before:
        hung = partner.execution.limit in {LimitHit.IDLE, LimitHit.WALL}
        if hung and all(why.verdict is Verdict.ILE for why in before):
            return opinion
        return before[0]
    if opinion.verdict is Verdict.TASK_FAULT:
        return _gone(users, partner) or opinion
    if opinion.score > 0:
        return next((why for _, why in failures if why is not None), opinion)
    return opinion


def _gone(users: Sequence[Finished], partner: Finished) -> outcome.Failure | None:
    """Return why the submission is to blame for a partner that failed, if it is."""
    # Only the submission can have closed the other ends, whether or not it went on running.
    end = partner.execution
    # A shell reports a program's SIGPIPE by its exit code.
    by_signal = end.signal == signal.SIGPIPE or end.exit_code == 128 + signal.SIGPIPE
    if (end.limit is None and by_signal) or _says(partner.execution, _NOBODY_READS):
        return outcome.Failure(Verdict.WA, "it closed the pipe while more was being sent to it")
    early = any(user.let_go or not user.hung_up for user in users)
    if early and _says(partner.execution, _NOTHING_TO_READ):
        return outcome.Failure(Verdict.WA, "it ended while more output was expected of it")
    return None


def _says(partner: Execution, words: bytes) -> bool:
    """Return whether a program ended by an error of this name, as its runtime reports it."""
    return partner.limit is None and partner.exit_code != 0 and words in partner.stderr[-_TAIL:]
