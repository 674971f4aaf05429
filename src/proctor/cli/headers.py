"""`proctor languages --warm`."""

from collections.abc import Sequence

from proctor.cli import terminal
from proctor.errors import UsageError
from proctor.formats.packages.cms_programs import EVAL
from proctor.judging.environment import open_environment
from proctor.languages import registry
from proctor.languages.compiler import identity
from proctor.languages.headers import Headers
from proctor.sandbox.executor import in_pool


def warm(names: Sequence[str], isolation: str | None) -> int:
    """Make the precompiled headers of C++ languages that are not made yet."""
    chosen = [language for language in map(registry.get, names) if language.family == "cpp"]
    if not chosen:
        raise UsageError(f"only C++ has headers to precompile, not {', '.join(names)}")
    headers = Headers()
    with open_environment(isolation=isolation) as pool:
        for language in chosen:
            found = registry.find(language)
            for flags in ((), EVAL):
                made = headers.ensure(in_pool(pool), found, identity(found), flags)
                told = "ready" if made else "cannot be precompiled"
                terminal.write(f"{language.name} {' '.join(flags)}".rstrip() + f": {told}\n")
    return 0
