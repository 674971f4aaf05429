"""Results of a batch in the run's directory: downloaded whole, found again by request."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from proctor.errors import ModelReplyBroken
from proctor.evals.batches.ledger import Place
from proctor.evals.batches.service import RequestBatch, custom_id_of
from proctor.evals.models.wire import LONGEST_REPLY
from proctor.evals.store_file import FOLDER
from proctor.whole_file import whole_file


def requests_file(run: Path, number: int) -> Path:
    """Return the path of a batch's requests, a file kept until they are handed in."""
    return run / FOLDER / f"{number}.requests"


def results_file(run: Path, number: int) -> Path:
    """Return the path of a batch's results, as the provider sent them."""
    return run / FOLDER / f"{number}.jsonl"


def leftovers(run: Path) -> list[Path]:
    """Return the files that a kill has left: requests handed in, and parts of downloads."""
    folder = run / FOLDER
    return [*folder.glob("*.requests"), *folder.glob(".*")]


async def download(pieces: AsyncIterator[bytes], batch: RequestBatch, path: Path) -> None:
    """Write results to a file that appears whole or not at all; memory stays small.

    Raises ModelReplyBroken for more bytes than the batch's replies may have, InputError if the disk
    is full, and what the pieces raise.
    """
    left = batch.count * LONGEST_REPLY
    with whole_file(path) as file:
        async for piece in pieces:
            left -= len(piece)
            if left < 0:
                raise ModelReplyBroken(f"the results of batch {batch.id} are too long")
            file.write(piece)


def places(path: Path, batch: RequestBatch) -> Iterator[Place]:
    """Find the line of each request in a batch's results; broken lines are left out."""
    for position, line in _lines(path):
        try:
            key = batch.key(custom_id_of(line))
        except ModelReplyBroken:
            continue
        if key is not None:
            yield key, position, len(line)


def broken(path: Path) -> int:
    """Count the lines that are not JSON with a `custom_id`, or longer than a reply may be."""
    count = 0
    for _, line in _lines(path):
        try:
            custom_id_of(line)
        except ModelReplyBroken:
            count += 1
    return count


def read_line(path: Path, position: int, length: int) -> bytes:
    """Return a line by its position and length in bytes, or as much of it as a reply may have."""
    with path.open("rb") as file:
        file.seek(position)
        return file.read(min(length, LONGEST_REPLY))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank with their positions; of one too long only the start."""
    with path.open("rb") as file:
        position = 0
        while line := file.readline(LONGEST_REPLY):
            if line.strip():
                yield position, line
            position += len(line)
            while not line.endswith(b"\n") and (line := file.readline(LONGEST_REPLY)):
                position += len(line)
