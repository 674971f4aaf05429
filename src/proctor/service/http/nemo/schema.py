"""Requests and answers of NeMo-Skills' local sandbox."""

from typing import Annotated, Literal

import msgspec

# Numbers are kept as sent: the message about a timeout says 10 or 10.0 accordingly.
_Whole = Annotated[int, msgspec.Meta(gt=0, le=86400)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=86400)]
NemoStatus = Literal["completed", "error", "timeout"]


class NemoRequest(msgspec.Struct, frozen=True):
    """Code to run; fields that are not named here are ignored, as upstream does."""

    generated_code: str
    timeout: _Whole | _Seconds = 10.0
    """Seconds of work and rest together, without waits that a busy machine causes."""
    language: str = "ipython"
    std_input: str = ""
    """Text for stdin; ignored for ipython and shell."""
    max_output_characters: Annotated[int, msgspec.Meta(ge=0)] = 1000
    traceback_verbosity: str = "Plain"


class NemoResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of a run; the header X-Proctor-Verdict says how a program ended."""

    process_status: NemoStatus
    stdout: str
    stderr: str
    new_session_created: bool | msgspec.UnsetType = msgspec.UNSET
    error: str = ""
    """Error message, in answers with a status other than 200."""


class NemoError(msgspec.Struct, frozen=True):
    """The body of an answer to an invalid request."""

    error: str
