"""Packed judgements on the way between a server and clients that judge on many servers.

A problem is sent once (PUT /v1/problems/{sha256}), as judging/packed.py packs it. Judgements are
asked for by its digest, several in one request (POST /v1/judgements), and answered in frames as
they are made: four bytes, big-endian, with the length of a PackedAnswer, and the answer; a frame of
length 0 says that the server lives.
"""

import re
import struct
from collections.abc import Iterator
from typing import Annotated

import msgspec

from proctor.errors import InputError
from proctor.limits import MIB
from proctor.service.http.native.schema import Amount, Count
from proctor.service.http.problem_details import ProblemDetails

PACKED = "application/vnd.msgpack"
"""Media type of a packed problem, and of a list of PackedRequests."""
ANSWERS = "application/vnd.proctor.answers"
"""Media type of PackedAnswers in frames."""
MOST_REQUESTS = 10_000
LONGEST_FRAME = 64 * MIB
_LENGTH = struct.Struct(">I")
EMPTY_FRAME = _LENGTH.pack(0)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PROBLEMS, _JUDGEMENTS = "/v1/problems/", "/v1/judgements"


class PackedRequest(msgspec.Struct, frozen=True, array_like=True):
    """One judgement."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    """Idempotency key: the same judgement with the same key is made once."""
    problem: str
    """SHA-256 of the packed problem, in hex."""
    payload: bytes
    """Payload of judging/remote.py, packed."""


class PackedAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The answer to one request: either `judgement` or `error`."""

    key: str
    judgement: bytes = b""
    """Packed Judgement."""
    error: ProblemDetails | None = None


Requests = Annotated[list[PackedRequest], msgspec.Meta(max_length=MOST_REQUESTS)]


class ServerLoad(msgspec.Struct, frozen=True):
    """Name and load of a server. GET /v1/load."""

    id: str
    """Name of the machine in its judgements."""
    instance: str
    """Name of this start of the server: judgements requested from an earlier one are lost."""
    version: str
    """Version of proctor."""
    places: Count
    """Jobs that may run at once."""
    running: Amount
    """Jobs that run."""
    waiting: Amount
    """Jobs that wait."""
    problem_bytes: Amount = 0
    """Bytes of problems that are kept for each owner."""
    stopping: bool = False
    """True if it takes no more judgements."""


class LanguageVersion(msgspec.Struct, frozen=True):
    """Tools of a language. GET /v1/languages/{language}."""

    version: str
    """Version that its tools report."""
    surroundings: str | None = None
    """Digest of all else that verdicts depend on there: isolation, packages and such; null if it
    is not known."""


def problem_path(digest: str) -> str:
    """Return the path of a problem."""
    return _PROBLEMS + digest


def judgements_path(beginning: str) -> str:
    """Return the path of the judgements whose keys begin with `beginning`."""
    return f"{_JUDGEMENTS}/{beginning}"


def is_packed(path: str) -> bool:
    """Return True for a path whose requests are not JSON."""
    return path == _JUDGEMENTS or path.startswith(_PROBLEMS)


def checked_digest(text: str) -> str:
    """Return a SHA-256 in hex as it is. Raises InputError for anything else."""
    if not _DIGEST.fullmatch(text):
        raise InputError("is no SHA-256 in small hex digits", field="problem")
    return text


def decoded_requests(body: bytes) -> list[PackedRequest]:
    """Return the judgements that a body asks for. Raises InputError if it is not a list of them."""
    try:
        return msgspec.msgpack.decode(body, type=Requests)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"is not a list of judgements: {error}") from error


def framed(answer: PackedAnswer) -> bytes:
    """Return an answer as a frame."""
    data = msgspec.msgpack.encode(answer)
    return _LENGTH.pack(len(data)) + data


class FrameReader:
    """Takes a stream of frames apart."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def begun(self) -> bool:
        """True if a frame has begun to come that has not ended."""
        return bool(self._data)

    def answers(self, part: bytes) -> Iterator[PackedAnswer]:
        """Take the next part of the stream; yield the answers that it completes.

        Raises msgspec.DecodeError or UnicodeDecodeError for a frame that is not an answer.
        """
        self._data += part
        at = 0
        while at + _LENGTH.size <= len(self._data):
            (length,) = _LENGTH.unpack_from(self._data, at)
            if length > LONGEST_FRAME:
                raise msgspec.DecodeError(f"a frame of {length} bytes")
            end = at + _LENGTH.size + length
            if end > len(self._data):
                break
            frame, at = bytes(self._data[at + _LENGTH.size : end]), end
            if frame:
                yield msgspec.msgpack.decode(frame, type=PackedAnswer)
        del self._data[:at]
