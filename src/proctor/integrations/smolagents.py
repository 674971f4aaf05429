"""smolagents' code actions in a session: an executor for its CodeAgent.

    CodeAgent(tools=[...], model=model, executor=ProctorExecutor())

The contract is smolagents' PythonExecutor (smolagents/local_python_executor.py): `send_tools`,
`send_variables`, and a call per code action that returns a CodeOutput or raises. Tools go as
source, as to smolagents' remote executors, and run in the sandbox: there is no network there, and
none of them can reach back. Everything that comes back is text or JSON; nothing is unpickled.
"""

import json
from typing import Any, Self

from smolagents import Tool
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.tools import get_tools_definition_code
from smolagents.utils import AgentExecutionError, truncate_content

from proctor.errors import InputError
from proctor.integrations.cell_text import failure, printed
from proctor.sandbox.notebook import CellResult
from proctor.sandbox.session import Session, open_session

_ANSWER = "application/x-proctor-final-answer"
_FINAL_ANSWER = f"""
import json as _json
_own_final_answer = final_answer
class _FinalAnswer(BaseException):
    pass
def _plain(value):
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(
        "final_answer takes text, numbers, lists and dictionaries, not " + type(value).__name__)
def final_answer(*args, **kwargs):
    made = _json.dumps(_own_final_answer(*args, **kwargs), default=_plain)
    display({{{_ANSWER!r}: made}}, raw=True)
    raise _FinalAnswer
"""
MAX_LOG_CHARACTERS = 50_000
"""How many characters of a code action's output the model is shown: smolagents' own limit."""


class _SilentLogger:
    """A logger for smolagents' errors, which want one even without an agent."""

    def log_error(self, message: str) -> None:
        """Do nothing: the agent logs the errors that it catches."""


class ProctorExecutor(PythonExecutor):  # type: ignore[misc]  # smolagents is not typed
    """Runs code actions in a notebook of a session, whose state lasts from one to the next."""

    def __init__(
        self,
        session: Session | None = None,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        most_logs: int = MAX_LOG_CHARACTERS,
    ) -> None:
        """Without a session it opens one of its own, which `cleanup` ends.

        `cpu` and `wall` are seconds a code action may use; None is the session's. Raises
        PlatformError, InfraFault.
        """
        self._own = session is None
        self._session = session or open_session()
        self._notebook = self._session.notebook()
        self._cpu, self._wall, self._most_logs = cpu, wall, most_logs
        self._prelude: dict[str, str] = {}
        self.state: dict[str, Any] = {"_print_outputs": ""}
        """Output of the last action, which the agent shows if the action failed."""

    def send_tools(self, tools: dict[str, Tool]) -> None:
        """Define tools in the sandbox. Raises InputError for what is not a tool with source."""
        for name, tool in tools.items():
            if not isinstance(tool, Tool):
                raise InputError(
                    f"{name!r} is not a tool that can be sent as source", field="tools"
                )
        if not tools:
            return
        source = get_tools_definition_code(tools)
        self._define("tools", source + (_FINAL_ANSWER if "final_answer" in tools else ""))

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Set variables in the sandbox. Raises InputError for what is not plain data."""
        if not variables:
            return
        try:
            text = json.dumps(variables)
        except (TypeError, ValueError) as error:
            raise InputError(f"variables are sent as JSON: {error}", field="state") from error
        self._define("variables", f"import json\nglobals().update(json.loads({text!r}))")

    def __call__(self, code_action: str) -> CodeOutput:
        """Run a code action. Raises AgentExecutionError for what goes wrong in it; SessionEnded."""
        self._begin()
        result = self._notebook.run_cell(code_action, cpu=self._cpu, wall=self._wall)
        logs = self._logs(result)
        self.state["_print_outputs"] = logs
        answer = next((shown[_ANSWER] for shown in result.displays if _ANSWER in shown), None)
        if answer is not None and result.error is not None and result.error.name == "_FinalAnswer":
            return CodeOutput(output=_loaded(answer), logs=logs, is_final_answer=True)
        if not result.ok:
            raise AgentExecutionError(failure(result), _SilentLogger())
        return CodeOutput(output=result.result, logs=logs, is_final_answer=False)

    def cleanup(self) -> None:
        """End the session, if it is the executor's own; else its interpreter. Idempotent."""
        if self._own:
            self._session.close()
        else:
            self._notebook.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.cleanup()

    def _define(self, what: str, source: str) -> None:
        self._prelude[what] = self._prelude.get(what, "") + source + "\n"
        if not self._begin():
            self._set_up(source)

    def _begin(self) -> bool:
        """Set up the interpreter, if new, with what was sent so far; return True if it was new."""
        if not self._notebook.run_cell("").fresh:
            return False
        for source in self._prelude.values():
            self._set_up(source)
        return True

    def _set_up(self, source: str) -> None:
        result = self._notebook.run_cell(source)
        if not result.ok:
            raise AgentExecutionError(failure(result), _SilentLogger())

    def _logs(self, result: CellResult) -> str:
        logs: str = truncate_content(printed(result), max_length=self._most_logs)
        return logs


def _loaded(answer: str) -> Any:
    """Return the answer that the cell displayed, as text if it is not JSON."""
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return answer
