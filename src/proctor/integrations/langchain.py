"""Python for agents of LangChain and LangGraph: a tool whose state lasts between calls.

    agent = create_agent(model, tools=[ProctorPython()])

The contract is langchain_core's BaseTool. Code runs in a session's cell, without network; what it
prints, its last value, and its traceback come back as text.
"""

from typing import Any, Self

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field, PrivateAttr

from proctor.integrations.cell_text import failure, printed
from proctor.sandbox.session import Session, open_session

MOST_CHARACTERS = 20_000
"""How many characters of a call's outcome the model is shown."""


class PythonInput(BaseModel):
    """Arguments of the tool."""

    code: str = Field(description="Python source; variables last from one call to the next.")


class ProctorPython(BaseTool):
    """Runs Python in a sandbox. Opens a session of its own unless it is given one."""

    name: str = "python"
    description: str = (
        "Runs Python code in a sandbox without network and returns what it prints and the value"
        " of its last line. Variables and files last from one call to the next."
    )
    args_schema: Any = PythonInput
    cpu: float | None = None
    """CPU seconds that a call may use; None for the session's limit."""
    wall: float | None = None
    """Seconds that a call may take; None for no other limit than on idleness."""
    most_characters: int = MOST_CHARACTERS
    _session: Session = PrivateAttr()
    _own: bool = PrivateAttr()

    def __init__(self, session: Session | None = None, **fields: Any) -> None:
        """Raise PlatformError or InfraFault where no session can be opened."""
        super().__init__(**fields)
        self._own = session is None
        self._session = session or open_session()

    def _run(self, code: str) -> str:
        """Run code. Raises SessionEnded, InfraFault: faults that are not the model's."""
        result = self._session.run_cell(code, cpu=self.cpu, wall=self.wall)
        parts = [printed(result)]
        if result.result is not None:
            parts.append(result.result)
        if not result.ok:
            parts.append(failure(result))
        text = "\n".join(part.rstrip("\n") for part in parts if part)
        return _shortened(text, self.most_characters)

    def close(self) -> None:
        """End the session, if it is the tool's own. Idempotent."""
        if self._own:
            self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _shortened(text: str, most: int) -> str:
    """Return the beginning and the end of a text of more than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
