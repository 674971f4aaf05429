"""Judges that are counted or held back, and servers of these tests' own."""

import shutil
import socket
import subprocess
from collections.abc import Collection
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from proctor.errors import NoLanguage
from proctor.judgement import Judgement, TestResult
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem
from proctor.program import Program
from proctor.verdict import Verdict


class CountedJudges:
    """Real judges, with the programs that they were asked to judge, elsewhere or at another time."""

    def __init__(self, judges: Judges) -> None:
        self.judges, self.asked = judges, list[str]()
        self.versions: dict[str, str] = {}
        self.surrounded: tuple[str, ...] | None = None

    @property
    def at_once(self) -> int:
        return self.judges.at_once

    def version_of(self, language: str) -> str:
        return self.versions.get(language) or self.judges.version_of(language)

    def surroundings(self) -> tuple[str, ...]:
        return self.judges.surroundings() if self.surrounded is None else self.surrounded

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        self.asked.append(program if isinstance(program, str) else program.source)
        return self.judges.start(problem, program, settings, subtasks)


class HeldJudges:
    """Judges whose judgements the test makes, when it likes."""

    at_once = 8

    def __init__(self) -> None:
        self.started: list[Future[Judgement]] = []
        self.error: BaseException | None = None

    def version_of(self, language: str) -> str:
        if language == "python":
            return "3"
        raise NoLanguage(language)

    def surroundings(self) -> tuple[str, ...]:
        return ("here",)

    def start(self, *_what: Any) -> Future[Judgement]:
        if self.error is not None:
            raise self.error
        self.started.append(Future())
        return self.started[-1]


def made(verdict: Verdict = Verdict.AC, **more: Any) -> Judgement:
    """A judgement of one short test."""
    test = TestResult(verdict, cpu=0.01, wall=0.02, memory=1 << 20)
    return Judgement(verdict, test.score, (test,), **more)


class Server:
    """A server of Redis or Valkey, on a port of its own."""

    def __init__(self, directory: Path, password: str = "") -> None:
        self._directory, self._password = directory, password
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        credentials = f":{password}@" if password else ""
        self.url = f"redis://{credentials}127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start it; it keeps nothing on the disk."""
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        assert program is not None
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--dir", str(self._directory)]
        if self._password:
            command += ["--requirepass", self._password]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if b"eady to accept connections" in line:
                return
        raise AssertionError("the server did not come up")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait()

    def client(self) -> Any:
        """A client of the test's own, to harm what is kept there."""
        import redis

        return redis.Redis.from_url(self.url)
