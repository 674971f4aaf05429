"""One interface to proctor: in this process, over a daemon, or over HTTP, of one server or many.

::

    from proctor.clients import connect

    with connect() as proctor:
        print(proctor.run("print(6 * 7)").execution.stdout.text)

Problems, programs and limits are those of `proctor`; results are structs of the native API. Errors
are those of proctor.errors, wherever they happened. Neither a web framework nor an HTTP client is
imported before it is needed.
"""

from proctor.clients.client import AsyncClient as AsyncClient
from proctor.clients.client import Client as Client
from proctor.clients.client import JudgeOutcome as JudgeOutcome
from proctor.clients.connecting import connect as connect
from proctor.clients.connecting import connect_async as connect_async
from proctor.clients.fleet import Fleet as Fleet
from proctor.clients.session import AsyncSession as AsyncSession
from proctor.clients.session import ClientSession as Session  # noqa: F401 (renamed)
from proctor.clients.streamed import AsyncStreamedRun as AsyncStreamedRun
from proctor.clients.streamed import StreamedRun as StreamedRun
from proctor.clients.transport import Piece as Piece
from proctor.service.http.native.schema import Capabilities as Capabilities
from proctor.service.http.native.schema import CheckerJson as CheckerJson
from proctor.service.http.native.schema import ComparisonJson as ComparisonJson
from proctor.service.http.native.schema import JudgeRequest as JudgeRequest
from proctor.service.http.native.schema import JudgeResult as JudgeResult
from proctor.service.http.native.schema import LanguageJson as LanguageJson
from proctor.service.http.native.schema import LimitsJson as LimitsJson
from proctor.service.http.native.schema import ProblemJson as ProblemJson
from proctor.service.http.native.schema import ProgramJson as ProgramJson
from proctor.service.http.native.schema import RunRequestJson as RunRequest  # noqa: F401 (renamed)
from proctor.service.http.native.schema import RunResult as RunResult
from proctor.service.http.native.schema import SubtaskJson as SubtaskJson
from proctor.service.http.native.schema import TestJson as TestJson
from proctor.service.http.native.schema import TestResultJson as TestResultJson
from proctor.service.http.native.session_schema import ExecuteResult as ExecuteResult
from proctor.service.http.native.session_schema import FileState as FileState
from proctor.service.http.native.session_schema import SessionState as SessionState
from proctor.solver.envelope import Envelope as Envelope
from proctor.solver.envelope import Incumbent as Incumbent

# Former names of these structs and classes, kept until 1.0.
Judged = JudgeOutcome
AsyncLiveRun = AsyncStreamedRun
LiveRun = StreamedRun
Checker = CheckerJson
Comparison = ComparisonJson
Language = LanguageJson
Limits = LimitsJson
Problem = ProblemJson
Program = ProgramJson
Subtask = SubtaskJson
Test = TestJson
TestResult = TestResultJson
