"""What is asked of solvers at the native doors; the answer is solver/envelope.py's Envelope."""

from typing import Annotated, Any

import msgspec

from proctor.service.http.native.schema import Seconds


class SolveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One generated solver, once. POST /v1/solve."""

    code: str
    input: Any = None
    """Any JSON value but null."""
    input_text: str = ""
    """Instead of `input`: a document of JSON, which the program gets byte for byte."""
    input_base64: str = ""
    """Likewise, as base64."""
    profile: Annotated[str, msgspec.Meta(max_length=200)] = "timetable"
    timeout: Seconds | None = None
    """Wall seconds; None: what the server's environment says, else the profile."""
    workers: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] = 42
    deterministic: bool = False
    roundtrip: bool = False
    """Whether the profile's own model must agree that a solution is one."""
