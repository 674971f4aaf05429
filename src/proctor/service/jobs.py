"""Jobs whose owners can look up their state, follow their events and cancel them."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import msgspec

from proctor.errors import InputError, UsageError
from proctor.limits import MIB

Method = Literal["run", "stream", "judge"]
"""Kinds of jobs whose requests are kept; `stream` is a run whose output comes as events."""
State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
_MOST_KEPT = 1000
"""Ended jobs of one owner that can still be looked up."""
_MOST_HELD = 256 * MIB
"""Bytes, about, of results and events of one owner's ended jobs; the latest is kept in any case."""
MOST_REQUESTS = 64 * MIB
"""Bytes, about, of requests of one owner's ended jobs; beyond that the oldest are forgotten."""
_IN_MEMORY = 4
"""Bytes that a request takes for each byte of its JSON, about."""
_OBJECT = 64
"""Bytes that an object of any kind takes, about."""
_TEXTS, _NUMBERS, _LISTS = (str, bytes), (int, float), (list, tuple)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job."""

    name: str
    """queued, started, names of the job's own events, and one of ENDED."""
    data: Any = None
    """Data of the event; of the last one the result, or the error that the job raised."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """Request of a job, which its owner can get again."""

    method: Method
    request: Any
    length: int
    """Bytes of its JSON."""

    @property
    def size(self) -> int:
        """Bytes that it holds, about. They are not counted one by one: a request may be large."""
        return _OBJECT + _IN_MEMORY * self.length


@dataclass(slots=True, eq=False)
class Job:
    """One job. Lives in one event loop."""

    id: str
    owner: str
    state: State = "queued"
    result: Any = None
    error: Exception | None = None
    task: asyncio.Task[Any] | None = None
    key: str | None = None
    """Idempotency key, by which its owner may ask for it again."""
    fingerprint: bytes = b""
    """Hash of the request, if it came with an idempotency key."""
    about: Any = None
    """Data of the API that started it."""
    asked: AskedFor | None = None
    """Request; None if it is not kept, or was forgotten."""
    final: bool = True
    """False if the job's end was not due to the request: its key then starts a new job."""
    size: int = 0
    """Bytes that its events hold, about; the last of them has the result."""
    events: list[Event] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, name: str, data: Any = None) -> None:
        """Add an event, and wake those who listen."""
        self.events.append(Event(name, data))
        self.size += size_of(data)
        self._changed.set()
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """Note that the job has its place."""
        self.state = "running"
        self.tell("started")

    async def listen(self) -> AsyncIterator[Event]:
        """Yield all events, from the first to the last."""
        at = 0
        while True:
            changed = self._changed
            while at < len(self.events):
                yield self.events[at]
                at += 1
            if self.state in ENDED:
                return
            await changed.wait()

    async def wait(self) -> Any:
        """Return the result, or raise the job's error, or CancelledError if it was cancelled."""
        assert self.task is not None
        return await asyncio.shield(self.task)

    def cancel(self) -> None:
        """Cancel the job; nothing happens if it has ended."""
        if self.task is not None:
            self.task.cancel()


class Jobs:
    """Jobs of all owners, each of whom sees only its own."""

    def __init__(self) -> None:
        self._jobs: dict[str, dict[str, Job]] = {}
        self._ended: dict[str, OrderedDict[str, Job]] = {}
        """Jobs that have ended, by owner, the oldest first."""
        self._held: dict[str, int] = {}
        """Bytes that ended jobs hold, by owner."""
        self._requests: dict[str, int] = {}
        """Bytes that requests of ended jobs hold, by owner."""
        self._keys: dict[tuple[str, str], Job] = {}

    def start(
        self,
        owner: str,
        work: Callable[[Job], Coroutine[Any, Any, Any]],
        *,
        key: str | None = None,
        fingerprint: bytes = b"",
        about: Any = None,
        asked: AskedFor | None = None,
    ) -> Job:
        """Start a job; with a `key` that has been used, return the job that it was used for.

        Raises InputError if that job was for another request.
        """
        if key is not None and (known := self._keys.get((owner, key))) is not None:
            if known.fingerprint != fingerprint:
                raise InputError("this key was used for another request", field="Idempotency-Key")
            return known
        job = Job(str(uuid.uuid4()), owner, key=key, fingerprint=fingerprint, about=about,
                  asked=asked)  # fmt: skip
        self._jobs.setdefault(owner, {})[job.id] = job
        if key is not None:
            self._keys[owner, key] = job
        job.tell("queued", {"id": job.id})
        job.task = asyncio.ensure_future(self._run(job, work))
        job.task.add_done_callback(lambda task: self._note_end(job, task))
        return job

    def get(self, owner: str, identity: str) -> Job | None:
        """Return a job of this owner's, or None."""
        return self._jobs.get(owner, {}).get(identity)

    def of(self, owner: str) -> list[Job]:
        """Return the jobs of this owner, in the order of their start."""
        return list(self._jobs.get(owner, {}).values())

    def drop(self, job: Job) -> None:
        """Forget a job that has ended and whose answer has been given."""
        if job.id in self._ended.get(job.owner, ()):
            self._held[job.owner] -= job.size
            self._forget_request(job)
        for known in (self._jobs, self._ended):
            mine = known.get(job.owner)
            if mine is not None:
                mine.pop(job.id, None)
                if not mine:
                    del known[job.owner]
        if job.owner not in self._ended:
            self._held.pop(job.owner, None)
            self._requests.pop(job.owner, None)
        self._forget_key(job)

    def _forget_request(self, job: Job) -> None:
        if job.asked is not None:
            self._requests[job.owner] -= job.asked.size
            job.asked = None

    def _forget_key(self, job: Job) -> None:
        if job.key is not None and self._keys.get((job.owner, job.key)) is job:
            del self._keys[job.owner, job.key]

    def cancel_all(self) -> None:
        """Cancel the jobs that have not ended."""
        for jobs in list(self._jobs.values()):
            for job in list(jobs.values()):
                job.cancel()

    def cancel_queued(self) -> None:
        """Cancel the jobs that have not begun."""
        for jobs in list(self._jobs.values()):
            for job in list(jobs.values()):
                if job.state == "queued":
                    job.cancel()

    def cancel_keys(self, owner: str, beginning: str) -> int:
        """Cancel an owner's unended jobs whose keys begin with `beginning`; return their number."""
        found = [
            job
            for job in self._jobs.get(owner, {}).values()
            if job.key is not None and job.key.startswith(beginning) and job.state not in ENDED
        ]
        for job in found:
            job.cancel()
        return len(found)

    @staticmethod
    async def _run(job: Job, work: Callable[[Job], Coroutine[Any, Any, Any]]) -> Any:
        try:
            job.result = await work(job)
        except asyncio.CancelledError:
            job.state = "cancelled"
            raise
        except Exception as error:
            job.state, job.error = "failed", error
            raise
        else:
            # Some jobs return what they have found when they are cancelled.
            task = asyncio.current_task()
            job.state = "cancelled" if task is not None and task.cancelling() else "done"
            return job.result
        finally:
            job.tell(job.state, job.error or job.result)

    def _note_end(self, job: Job, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio would log that nobody did
        elif job.state not in ENDED:  # cancelled before it had begun to run
            job.state = "cancelled"
            job.tell(job.state)
        if job.error is not None and not isinstance(job.error, UsageError):
            job.final = False
        if job.state == "cancelled" or not job.final:
            self._forget_key(job)  # a repeated request tries again, rather than get this failure
        if job.id not in self._jobs.get(job.owner, {}):
            return
        ended = self._ended.setdefault(job.owner, OrderedDict())
        ended[job.id] = job
        job.size += size_of(job.about)
        self._held[job.owner] = self._held.get(job.owner, 0) + job.size
        while len(ended) > 1 and (len(ended) > _MOST_KEPT or self._held[job.owner] > _MOST_HELD):
            self.drop(next(iter(ended.values())))
        self._bound_requests(job)

    def _bound_requests(self, ended: Job) -> None:
        """Count the request of a job that has ended; forget the oldest if they hold too many bytes.

        The jobs and their results stay. A request that is too large by itself is not kept.
        """
        asked, owner = ended.asked, ended.owner
        if asked is None or asked.size > MOST_REQUESTS:
            ended.asked = None
            return
        self._requests[owner] = self._requests.get(owner, 0) + asked.size
        for job in self._ended[owner].values():
            if self._requests[owner] <= MOST_REQUESTS:
                return
            self._forget_request(job)


def size_of(value: Any) -> int:
    """Return the bytes that a tree of plain data holds, about: for bounds on what is kept."""
    total, left = 0, [value]
    while left:
        each = left.pop()
        total += _OBJECT
        if isinstance(each, _TEXTS):
            total += len(each)
        elif each is None or isinstance(each, _NUMBERS):  # by far the most common
            continue
        elif isinstance(each, msgspec.Struct):
            left.extend(msgspec.structs.astuple(each))
        elif isinstance(each, _LISTS):
            left.extend(each)
        elif isinstance(each, Mapping):
            left.extend(each)
            left.extend(each.values())
        elif is_dataclass(each):
            left.extend(getattr(each, field.name) for field in fields(each))
    return total
