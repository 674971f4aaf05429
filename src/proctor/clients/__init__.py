"""One interface to proctor: in this process, over a daemon, or over HTTP.

::

    from proctor.clients import connect

    with connect() as proctor:
        print(proctor.run("print(6 * 7)").execution.stdout.text)

Results are the native API's structs; what goes wrong is an error of proctor.errors, wherever it
happened. Neither a web framework nor an HTTP client is imported before it is needed.
"""

from proctor.clients.asynchronous import AsyncClient as AsyncClient
from proctor.clients.calls import Judged as Judged
from proctor.clients.calls import Piece as Piece
from proctor.clients.connecting import connect as connect
from proctor.clients.connecting import connect_async as connect_async
from proctor.clients.live import AsyncLiveRun as AsyncLiveRun
from proctor.clients.sessions import AsyncSession as AsyncSession
from proctor.clients.synchronous import Client as Client
from proctor.clients.synchronous_parts import LiveRun as LiveRun
from proctor.clients.synchronous_parts import Session as Session
from proctor.service.http.native.schema import Capabilities as Capabilities
from proctor.service.http.native.schema import Checker as Checker
from proctor.service.http.native.schema import Comparison as Comparison
from proctor.service.http.native.schema import JudgeRequest as JudgeRequest
from proctor.service.http.native.schema import JudgeResult as JudgeResult
from proctor.service.http.native.schema import Language as Language
from proctor.service.http.native.schema import Limits as Limits
from proctor.service.http.native.schema import Problem as Problem
from proctor.service.http.native.schema import Program as Program
from proctor.service.http.native.schema import RunRequest as RunRequest
from proctor.service.http.native.schema import RunResult as RunResult
from proctor.service.http.native.schema import Subtask as Subtask
from proctor.service.http.native.schema import Test as Test
from proctor.service.http.native.schema import TestResult as TestResult
from proctor.service.http.native.session_schema import ExecuteResult as ExecuteResult
from proctor.service.http.native.session_schema import FileState as FileState
from proctor.service.http.native.session_schema import SessionState as SessionState
from proctor.solver.envelope import Envelope as Envelope
from proctor.solver.envelope import Incumbent as Incumbent
