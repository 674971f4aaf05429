"""Requests and answers of NeMo-Skills' local sandbox, and what proctor adds."""

from typing import Annotated, Literal

import msgspec

NemoStatus = Literal["completed", "error", "timeout"]


class NemoRequest(msgspec.Struct, frozen=True):
    """Code to run; fields that are not named here are ignored, as upstream does."""

    generated_code: str
    timeout: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 10.0
    """CPU seconds; what sleeps is ended a little later. Upstream counts wall time."""
    language: str = "ipython"
    std_input: str = ""
    """Text for stdin; ignored for ipython and shell."""
    max_output_characters: Annotated[int, msgspec.Meta(ge=0)] = 1000
    traceback_verbosity: str = "Plain"


class NemoResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of a run. The fields from `verdict` on are proctor's."""

    process_status: NemoStatus
    stdout: str
    stderr: str
    new_session_created: bool | msgspec.UnsetType = msgspec.UNSET
    verdict: str = ""
    """OK, CE, RE, TLE, ILE, MLE, OLE, or INFRA_FAULT, which must not be scored."""
    error: str = ""


class NemoError(msgspec.Struct, frozen=True):
    """The body of an answer to a request that is not as it must be."""

    error: str
