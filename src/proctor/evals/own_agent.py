"""An agent of the user's own: MODULE:CALLABLE, which gets the Budgets and returns the agent.

It is the user's trusted code and runs here, on the host, not in a cell. What goes wrong in it is
the fault of the sample that it worked on, `agent-error`, and the run goes on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.errors import AgentFault, InfraFault, ModelFault, PlatformError, SettingsError
from proctor.evals.agent import AgenticAdapter, Budgets, ToolAgent
from proctor.evals.imported import imported
from proctor.evals.journal import Journal, Solved
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings


def agent_of(settings: Settings) -> AgenticAdapter | None:
    """Return the agent at work; None for single shots.

    Raises SettingsError if it cannot be imported or made, or is no AgenticAdapter.
    """
    if not settings.agentic_mode:
        return None
    if not settings.agent:
        return ToolAgent(settings.budgets)
    return _Guarded(_opened(settings.agent, settings.budgets))


def _opened(name: str, budgets: Budgets) -> AgenticAdapter:
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise SettingsError(f"--agent is MODULE:CALLABLE, not {name!r}")
    try:
        found: Any = imported(name)(budgets)
    except Exception as error:  # the user's code may raise anything
        raise SettingsError(f"--agent {name}: {type(error).__name__}: {error}") from error
    if lacking := [each for each in ("messages", "solve") if not hasattr(found, each)]:
        raise SettingsError(f"--agent {name}: what it returns has no `{lacking[0]}`")
    agent: AgenticAdapter = found
    return agent


@dataclass(frozen=True, slots=True)
class _Guarded:
    """Makes an AgentFault of whatever an agent does wrong."""

    agent: AgenticAdapter

    def messages(self, prompt: tuple[Message, ...]) -> tuple[Message, ...]:
        with _faults():
            made = self.agent.messages(prompt)
            return msgspec.convert(msgspec.to_builtins(made), tuple[Message, ...])

    async def solve(self, prompt: tuple[Message, ...], journal: Journal) -> Solved:
        with _faults():
            solved = await self.agent.solve(prompt, journal)
            solved = msgspec.convert(msgspec.to_builtins(solved), Solved)
            journal.check(solved)
            return solved


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except (ModelFault, InfraFault, PlatformError):
        raise  # not the agent's fault
    except Exception as error:  # whatever it is, it must not cost the other samples
        raise AgentFault(f"{type(error).__name__}: {error}") from error
