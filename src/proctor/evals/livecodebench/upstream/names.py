"""Names of upstream's prompts: `upstream[-cot][:STYLE][@DIGEST]`."""

import re
from dataclasses import dataclass

from proctor.errors import SettingsError

DEFAULT_STYLE = "OpenAIChat"
BASE = "GenericBase"
_NAME = re.compile(
    r"upstream(?P<cot>-cot)?(?::(?P<style>[A-Za-z0-9]+))?(?:@(?P<digest>[0-9a-f]{12}))?"
)


@dataclass(frozen=True, slots=True)
class UpstreamPrompt:
    """A prompt of lcb_runner."""

    style: str = DEFAULT_STYLE
    """Member of its LMStyle."""
    cot: bool = False
    """True for thinking aloud, which is for code execution only."""
    digest: str = ""
    """Digest of the checkout; empty for any."""

    def __str__(self) -> str:
        at = f"@{self.digest}" if self.digest else ""
        return f"upstream{'-cot' * self.cot}:{self.style}{at}"


def is_upstream(prompt: str) -> bool:
    """True if the name is of one of upstream's prompts."""
    return prompt.startswith("upstream")


def parse(prompt: str) -> UpstreamPrompt:
    """Parse a name. Raises SettingsError."""
    found = _NAME.fullmatch(prompt)
    if found is None:
        raise SettingsError(f"--prompt is upstream or upstream:STYLE, not {prompt!r}")
    return UpstreamPrompt(
        found["style"] or DEFAULT_STYLE, found["cot"] is not None, found["digest"] or ""
    )


def is_base(prompt: str) -> bool:
    """True for upstream's prompt for base models, whose replies are programs and nothing else."""
    return is_upstream(prompt) and parse(prompt).style == BASE
