"""Requests and answers of NeMo-Skills' local sandbox."""

from typing import Annotated, Literal

import msgspec

# As sent: 10 and 10.0 are told apart in what a client is told of an overrun.
_Whole = Annotated[int, msgspec.Meta(gt=0, le=86400)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=86400)]
NemoStatus = Literal["completed", "error", "timeout"]


class NemoRequest(msgspec.Struct, frozen=True):
    """Code to run; fields that are not named here are ignored, as upstream does."""

    generated_code: str
    timeout: _Whole | _Seconds = 10.0
    """Seconds at work and at rest, without those that a busy machine makes it wait."""
    language: str = "ipython"
    std_input: str = ""
    """Text for stdin; ignored for ipython and shell."""
    max_output_characters: Annotated[int, msgspec.Meta(ge=0)] = 1000
    traceback_verbosity: str = "Plain"


class NemoResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of a run; how a program ended is told by the header X-Proctor-Verdict."""

    process_status: NemoStatus
    stdout: str
    stderr: str
    new_session_created: bool | msgspec.UnsetType = msgspec.UNSET
    error: str = ""
    """Of answers with another status than 200."""


class NemoError(msgspec.Struct, frozen=True):
    """The body of an answer to a request that is not as it must be."""

    error: str
