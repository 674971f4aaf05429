"""Contexts of a sandbox: interpreters, each with a state of its own."""

import secrets
from dataclasses import dataclass

import msgspec

from proctor.errors import InputError, NotFound
from proctor.sandbox.notebook import Notebook
from proctor.service.admission import RequestContext
from proctor.service.http.e2b.paths import HOME, absolute, relative
from proctor.service.owned_session import OwnedSession

MOST = 16
"""Contexts that a sandbox may have besides its first."""
PYTHON = ("python", "python3")
COMMANDS = {"bash": ("/bin/bash", "-c"), "javascript": ("node", "-e"), "js": ("node", "-e")}
"""Commands that run code, by language, in a new process each time; only Python keeps its state."""


class ContextRequest(msgspec.Struct, frozen=True):
    """Body of POST /contexts."""

    cwd: str = HOME
    language: str = "python"


@dataclass(frozen=True, slots=True)
class CodeContext:
    """A context. The session's first one, and those of stateless languages, have no notebook."""

    id: str = "default"
    language: str = "python"
    cwd: str = HOME
    notebook: Notebook | None = None

    def told(self) -> dict[str, str]:
        """Return the context as clients see it."""
        return {"id": self.id, "language": self.language, "cwd": self.cwd}

    @property
    def is_python(self) -> bool:
        return self.language in PYTHON


class CodeContexts:
    """The contexts of one sandbox. Methods raise NotFound, and what those of OwnedSession raise."""

    def __init__(self, session: OwnedSession) -> None:
        self._session = session
        self._known = {"default": CodeContext()}

    def all(self) -> list[CodeContext]:
        """Return the contexts, the oldest first."""
        return list(self._known.values())

    def get(self, identity: str) -> CodeContext:
        """Return a context."""
        found = self._known.get(identity)
        if found is None:
            raise NotFound(f"there is no context {identity!r}")
        return found

    async def make(self, asked: ContextRequest, context: RequestContext) -> CodeContext:
        """Make a context in a directory of the sandbox. Raises InputError."""
        language = known_language(asked.language)
        if len(self._known) > MOST:
            raise InputError(f"a sandbox has no more than {MOST} contexts besides its first")
        notebook = self._session.notebook() if language in PYTHON else None
        made = CodeContext(secrets.token_hex(8), language, absolute(relative(asked.cwd)), notebook)
        self._known[made.id] = made  # before it is entered, so that concurrent requests count it
        try:
            await self._enter(made, context)
        except BaseException:
            self._known.pop(made.id, None)
            raise
        return made

    async def restart(self, identity: str, context: RequestContext) -> None:
        """End the interpreter of a context and start another."""
        found = self.get(identity)
        if found.is_python:
            await self._session.restart(context, found.notebook)
            await self._enter(found, context)

    async def remove(self, identity: str, context: RequestContext) -> None:
        """End a context. Raises InputError for the first, which cannot be removed."""
        found = self.get(identity)
        if found.id == "default":
            raise InputError("the first context cannot be removed; it can be restarted")
        del self._known[identity]
        if found.notebook is not None:
            await self._session.restart(context, found.notebook)

    async def _enter(self, made: CodeContext, context: RequestContext) -> None:
        """Change an interpreter to its context's directory, which is made if it is missing."""
        if made.notebook is None:
            return
        place = relative(made.cwd)
        code = f"__import__('os').makedirs({place!r}, exist_ok=True); "
        found = await self._session.run_cell(
            f"{code}__import__('os').chdir({place!r})", context, notebook=made.notebook
        )
        error = found.made.error
        if error is not None:
            raise InputError(f"{made.cwd!r} cannot be entered: {error.value}")


def known_language(name: str) -> str:
    """Return a language's name in lower case. Raises InputError for one that is not run here."""
    language = name.lower()
    if language not in PYTHON and language not in COMMANDS:
        known = ", ".join(["python", *COMMANDS])
        raise InputError(f"cells in {name!r} are not run here (there are: {known})")
    return language
