"""Output of programs, handed on while they run."""

from collections.abc import Callable, Sequence

from proctor.sandbox.machine import memfile

OnOutput = Callable[[int, bytes], None]
"""Called with 1 or 2, for stdout or stderr, and the bytes that were written to it since."""


class Tail:
    """The ends of the two files that a program writes to."""

    def __init__(self, files: Sequence[int], most: int, on_output: OnOutput) -> None:
        """`files` are the descriptors of stdout and stderr; `most` bytes of each are reported."""
        self._files, self._most, self._on_output = files, most, on_output
        self._told = [0, 0]

    def tell(self) -> None:
        """Call `on_output` with the bytes written since the last call."""
        for number, fd in enumerate(self._files):
            told = self._told[number]
            data = memfile.content(fd, self._most - told, told)
            if data:
                self._told[number] += len(data)
                self._on_output(number + 1, data)
