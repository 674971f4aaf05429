"""One interface to proctor: in this process, over a daemon, or over HTTP.

::

    from proctor.client import connect

    with connect() as proctor:
        print(proctor.run("print(6 * 7)").execution.stdout.text)

Results are the native API's structs; what goes wrong is an error of proctor.errors, wherever it
happened. Neither a web framework nor an HTTP client is imported before it is needed.
"""

from proctor.client.asynchronous import AsyncClient as AsyncClient
from proctor.client.calls import Judged as Judged
from proctor.client.calls import Piece as Piece
from proctor.client.connecting import connect as connect
from proctor.client.connecting import connect_async as connect_async
from proctor.client.live import AsyncLiveRun as AsyncLiveRun
from proctor.client.sessions import AsyncSession as AsyncSession
from proctor.client.synchronous import Client as Client
from proctor.client.synchronous_parts import LiveRun as LiveRun
from proctor.client.synchronous_parts import Session as Session
from proctor.serve.native.schema import Capabilities as Capabilities
from proctor.serve.native.schema import Checker as Checker
from proctor.serve.native.schema import Comparison as Comparison
from proctor.serve.native.schema import JudgeRequest as JudgeRequest
from proctor.serve.native.schema import JudgeResult as JudgeResult
from proctor.serve.native.schema import Language as Language
from proctor.serve.native.schema import Limits as Limits
from proctor.serve.native.schema import Problem as Problem
from proctor.serve.native.schema import Program as Program
from proctor.serve.native.schema import RunRequest as RunRequest
from proctor.serve.native.schema import RunResult as RunResult
from proctor.serve.native.schema import Subtask as Subtask
from proctor.serve.native.schema import Test as Test
from proctor.serve.native.schema import TestResult as TestResult
from proctor.serve.native.session_schema import ExecuteResult as ExecuteResult
from proctor.serve.native.session_schema import FileState as FileState
from proctor.serve.native.session_schema import SessionState as SessionState
from proctor.solver.envelope import Envelope as Envelope
from proctor.solver.envelope import Incumbent as Incumbent
