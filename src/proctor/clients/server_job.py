"""A job of a server as a recorded judgement, and a client as judges that repeat its request."""

import asyncio
import os
import re
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.clients.client import Client
from proctor.clients.connecting import connect
from proctor.clients.http import HttpTransport
from proctor.clients.remote_errors import broken
from proctor.clients.transport import bytes_of
from proctor.errors import InputError, NoLanguage, NotFound, ProctorError, ReplyBroken
from proctor.evals.replaying.recorded import (
    InputFiles,
    RecordedJudgement,
    Surroundings,
    isolation_of,
    level_of,
)
from proctor.grading import Comparison, Match
from proctor.judgement import Judgement, SubtaskResult, TestResult
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem, Test
from proctor.service.http.native import convert
from proctor.service.http.native.schema import (
    Capabilities,
    JobRequest,
    JobState,
    JudgeRequest,
    JudgeResult,
    LanguageJson,
    RunRequestJson,
    RunResult,
)
from proctor.verdict import Verdict

_ATTEMPTS = 3
_RUN = "a run, which nothing judged: AC if it ended well, and now if it does the same again"
_OK = "OK"
"""Verdict on a run that ended well."""


@dataclass(frozen=True, slots=True)
class ServerJob:
    """A job that has ended, with its request and its outcome."""

    url: str
    request: JudgeRequest | RunRequestJson
    recorded: RecordedJudgement
    run: RunResult | None = None
    """Result of a run, which is not a judgement: a run that does the same again counts as AC."""

    def there(self) -> "ClientJudges":
        """Open judges that send the request to the same server again."""
        return ClientJudges(self, connect(self.url))

    def here(self, pool: dict[str, Any]) -> "ClientJudges":
        """Open judges that do the request in this process; `pool` are arguments of open_pool."""
        return ClientJudges(self, connect("local:", **pool))


class ClientJudges:
    """Judges that have a client repeat a job's request, whatever they are given. Close them.

    No server reports the version of the Python that warm cells run under.
    """

    at_once = 1

    def __init__(self, job: ServerJob, client: Client) -> None:
        self._job, self._client = job, client
        self.output: bytes | None = None
        """Output of the latest run."""

    def version_of(self, language: str) -> str:
        """Return the version of a language's tools. Raises NoLanguage."""
        tools = [] if language == "python" else self._client.languages()
        return _version(tools, language)

    def surroundings(self) -> tuple[str, ...]:
        """Return nothing: it is not known what else verdicts depend on there."""
        return ()

    def start(self, *_asked: Any, **_named: Any) -> Future[Judgement]:
        """Repeat the job's request, and wait for the result."""
        future: Future[Judgement] = Future()
        try:
            future.set_result(self._done())
        except ProctorError as error:
            future.set_exception(error)
        return future

    def _done(self) -> Judgement:
        request = self._job.request
        if isinstance(request, JudgeRequest):
            return _of_result(self._client.judge(request))
        made = self._client.run(request)
        self.output = None if made.execution is None else bytes_of(made.execution.stdout)
        return _of_run(made, self._job.run)

    def close(self) -> None:
        """End what runs."""
        self._client.close()


def fetch(name: str, given: InputFiles) -> ServerJob:
    """Return the job URL#ID, which must have ended; PROCTOR_TOKEN says whose it is.

    Raises InputError, NotFound, Unauthorized, Unreachable.
    """
    given.check("a job of a server")
    url, _, identity = name.partition("#")
    if not identity:
        raise InputError("name a job of it, as URL#JOB", file=url)
    if not re.fullmatch(r"[A-Za-z0-9_-]+", identity):
        raise NotFound(f"there is no job {identity!r} of yours")
    return asyncio.run(_fetched(url, identity))


async def _fetched(url: str, identity: str) -> ServerJob:
    transport = HttpTransport(url, os.environ.get("PROCTOR_TOKEN"), _ATTEMPTS)
    place = f"/v1/jobs/{identity}"
    try:
        state = await transport.ask("GET", place, JobState)
        _check_ended(state, f"{url}#{identity}")
        asked = await transport.ask("GET", f"{place}/request", JobRequest)
        about = await transport.ask("GET", "/v1/capabilities", Capabilities)
        tools = await transport.ask("GET", "/v1/languages", list[LanguageJson])
        return _job(url, state, asked, about, tools)
    except msgspec.ValidationError as error:
        raise broken(url, error) from error
    finally:
        await transport.close()


def _check_ended(state: JobState, name: str) -> None:
    if state.state in {"queued", "running"}:
        raise InputError(f"is {state.state}: there is nothing to compare with yet", file=name)
    if state.result is None:
        why = "" if state.error is None else f": {state.error.detail or state.error.title}"
        raise InputError(f"has no result, it was {state.state}{why}", file=name)


def _job(
    url: str, state: JobState, asked: JobRequest, about: Capabilities, tools: list[LanguageJson]
) -> ServerJob:
    name = f"{url}#{state.id}"
    if asked.method == "stream":
        raise InputError("is a run whose output came as events: it was not kept", file=name)
    request: JudgeRequest | RunRequestJson
    if asked.method == "judge":
        request, run = msgspec.convert(asked.request, JudgeRequest), None
        problem, settings = convert.problem_of(request)
        outcome = _of_result(msgspec.convert(state.result, JudgeResult))
    else:
        request = msgspec.convert(asked.request, RunRequestJson)
        run = msgspec.convert(state.result, RunResult)
        problem, settings = _as_problem(request, state.id, run), JudgeSettings()
        outcome = _of_run(run, run)
    program = convert.program(request.program)
    notes = [] if run is None else [_RUN]
    if request.packages is not None:
        notes.append(f"it was judged with the server's package set {request.packages!r}")
    language = program.language
    then = Surroundings(
        about.version, tools="" if language == "python" else _version(tools, language),
        machine=url, isolation=level_of(outcome),
    )  # fmt: skip
    recorded = RecordedJudgement(
        name, problem, program, settings, outcome, then=then, notes=tuple(notes)
    )
    return ServerJob(url, request, recorded, run)


def _as_problem(request: RunRequestJson, identity: str, run: RunResult) -> Problem:
    """Return a run as a problem of one test, whose output is that of the run."""
    asked = convert.run_request(request)
    wrote = None if run.execution is None else bytes_of(run.execution.stdout)
    test = Test(asked.stdin, wrote, args=asked.args)
    return Problem(identity, (test,), limits=asked.limits, grading=Comparison(Match.EXACT))


def _version(tools: list[LanguageJson], language: str) -> str:
    found = next((each.version for each in tools if each.id == language), None)
    if found is None:
        raise NoLanguage(f"the server has no {language}")
    return found


def _verdict(said: str) -> Verdict:
    """Return the verdict that a server names. Raises ReplyBroken if there is none of that name."""
    if said not in Verdict.__members__.values():
        raise ReplyBroken(f"no verdict is called {said[:20]!r}")
    return Verdict(said)


def _of_result(found: JudgeResult) -> Judgement:
    tests = (
        TestResult(
            _verdict(each.verdict), each.cpu, each.wall, each.memory, each.message, each.name,
            each.score,
        )
        for each in found.tests
    )  # fmt: skip
    subtasks = (
        SubtaskResult(each.name, _verdict(each.verdict), each.score, each.points, each.of, ())
        for each in found.subtasks
    )
    return Judgement(
        _verdict(found.verdict), found.score or 0.0, tuple(tests), found.message,
        isolation_of(found.isolation), points=found.points, of=found.of or 0.0,
        subtasks=tuple(subtasks), compiler_output=found.compiler_output,
    )  # fmt: skip


def _of_run(made: RunResult, recorded: RunResult | None) -> Judgement:
    """Return a run as a judgement: AC if it ended well; WA if it did otherwise than recorded."""
    execution = made.execution
    verdict = Verdict.AC if made.verdict == _OK else _verdict(made.verdict)
    if execution is None:
        said = "" if made.compilation is None else made.compilation.output
        return Judgement(verdict, 0.0, (), said, compiled=False)
    message = _ending(made)
    alike = recorded is not None and made.verdict == recorded.verdict
    if recorded is not None and alike and _facts(made) != _facts(recorded):
        verdict, message = Verdict.WA, f"{message}; recorded: {_ending(recorded)}"
    test = TestResult(verdict, execution.cpu, execution.wall, execution.memory, message)
    return Judgement.of_tests([test], 1, isolation_of(made.isolation))


def _facts(made: RunResult) -> tuple[Any, ...]:
    execution = made.execution
    if execution is None or execution.limit is not None:  # how far it came is a matter of chance
        return ()
    return execution.exit_code, execution.signal, bytes_of(execution.stdout), made.files


def _ending(made: RunResult) -> str:
    execution = made.execution
    if execution is None:
        return "it does not compile"
    size = len(bytes_of(execution.stdout))
    if execution.limit is not None:
        return f"limit {execution.limit}, {size} bytes written"
    how = f"signal {execution.signal}" if execution.exit_code is None else (
        f"exit code {execution.exit_code}"
    )  # fmt: skip
    return f"{how}, {size} bytes written"
