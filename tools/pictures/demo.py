"""A recording of `proctor demo` in a terminal, played by an SVG without scripts."""

import fcntl
import os
import pty
import struct
import sys
import sysconfig
import termios
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyte

COMMAND = ("proctor", "demo", "--cpu", "500ms")
COLUMNS, ROWS = 76, 12
PACE = 0.25
"""Seconds as played: what changes faster is shown once."""
LONGEST, TYPING, HOLD = 6.0, 1.2, 6.0
"""Seconds: of the recording as played, before it, and of its last screen."""
CELL, LINE, PAD, BAR = 8.4, 19, 16, 34
COLOURS = {
    "default": "#d1d7e0", "green": "#57ab5a", "red": "#f47067", "brown": "#d9a441",
    "yellow": "#d9a441", "cyan": "#56b6c2", "blue": "#6cb6ff", "magenta": "#dcbdfb",
}  # fmt: skip

Run = tuple[int, str, str, bool]
"""Column, text, colour, whether bold."""


@dataclass(frozen=True)
class Frame:
    """A screen, and when it was seen."""

    at: float
    """Seconds since the command was started."""
    rows: tuple[tuple[Run, ...], ...]


def write(images: Path) -> Path:
    """Run the command, and write what was seen."""
    frames = record()
    path = images / "demo.svg"
    path.write_text(animation(frames), encoding="utf-8")
    return path


def record() -> list[Frame]:
    """Run the command in a pseudo-terminal, and return its screens, the last one whole."""
    program = Path(sysconfig.get_path("scripts"), COMMAND[0])
    process, terminal = pty.fork()
    if process == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update(TERM="xterm", COLORTERM="truecolor", COLUMNS=str(COLUMNS))
        os.execv(program, COMMAND)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    begin = time.monotonic()
    frames: list[Frame] = []
    while read := _read(terminal):
        stream.feed(read)
        frames.append(Frame(time.monotonic() - begin, _rows(screen)))
    frames.append(Frame(time.monotonic() - begin, _rows(screen)))
    os.close(terminal)
    if status := os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        sys.exit(f"{' '.join(COMMAND)} ended with {status}: nothing is shown of it")
    return frames


def _read(terminal: int) -> bytes:
    """Return what was printed, nothing at the end (of which Linux tells by an error)."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


def _rows(screen: pyte.Screen) -> tuple[tuple[Run, ...], ...]:
    return tuple(_runs(screen, row) for row in range(screen.lines))


def _runs(screen: pyte.Screen, row: int) -> tuple[Run, ...]:
    """Return a row's pieces of one style, without blanks at their ends."""
    found: list[Run] = []
    for column in range(screen.columns):
        cell = screen.buffer[row][column]
        colour = COLOURS.get(cell.fg) or f"#{cell.fg}"
        if found and found[-1][2:] == (colour, cell.bold):
            first, text, *_ = found.pop()
            found.append((first, text + cell.data, colour, cell.bold))
        else:
            found.append((column, cell.data, colour, cell.bold))
    trimmed = [(first, text.rstrip(), colour, bold) for first, text, colour, bold in found]
    return tuple(run for run in trimmed if run[1])


def animation(frames: list[Frame]) -> str:
    """Return the SVG: each row of each screen is visible for its part of the time."""
    speed = max(1, -(-frames[-1].at // LONGEST))
    frames = _thinned(frames, PACE * speed)
    total = TYPING + frames[-1].at / speed + HOLD
    width, height = round(COLUMNS * CELL) + 2 * PAD, BAR + (ROWS + 1) * LINE + PAD
    body, rules = [_row(0, ((0, f"$ {' '.join(COMMAND)}", COLOURS["default"], True),))], []
    for row in range(ROWS):
        for begin, end, runs in _spans(frames, row):
            if end is None:
                name, until = "last", 100.0
            else:
                name, until = "past", 100 * (TYPING + end / speed) / total
            since = 100 * (TYPING + begin / speed) / total
            number = len(rules)
            rules.append(_rule(number, since, until))
            body.append(
                f'<g class="{name}" style="animation-name:k{number}">{_row(row + 1, runs)}</g>'
            )
    shown = "" if speed == 1 else f", shown {speed:.0f} times as fast"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" role="img">
<title>proctor demo: 45 programs, each with the verdict it is labelled with</title>
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }}
.past, .last {{ animation: {total:.2f}s infinite; }}
.past {{ visibility: hidden; }}
{"".join(rules)}
@media (prefers-reduced-motion: reduce) {{ .past, .last {{ animation: none; }} }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#1c2128"/>
<circle cx="20" cy="18" r="5.5" fill="#f47067"/><circle cx="39" cy="18" r="5.5" fill="#d9a441"/>\
<circle cx="58" cy="18" r="5.5" fill="#57ab5a"/>
<text x="{width - PAD}" y="22" text-anchor="end" fill="#909dab">{frames[-1].at:.0f} s on {_machine()}{shown}</text>
{chr(10).join(body)}
</svg>
"""  # noqa: E501 - a list of fonts, and a line of the picture


def _machine() -> str:
    cpus = os.cpu_count() or 1
    return f"{cpus} busy CPUs" if os.getloadavg()[0] > cpus else f"{cpus} CPUs"


def _thinned(frames: list[Frame], pace: float) -> list[Frame]:
    """Leave out what was on the screen for less than `pace` seconds, but for the end."""
    kept = frames[:1]
    for frame in frames[1:-1]:
        if frame.at - kept[-1].at >= pace:
            kept.append(frame)
    return [*kept, frames[-1]]


def _spans(frames: list[Frame], row: int) -> list[tuple[float, float | None, tuple[Run, ...]]]:
    """Return what stood in a row, from when until when; None is the end."""
    found: list[tuple[float, float | None, tuple[Run, ...]]] = []
    begin = frames[0].at
    for index, frame in enumerate(frames):
        after = frames[index + 1] if index + 1 < len(frames) else None
        if after is None or after.rows[row] != frame.rows[row]:
            if frame.rows[row]:
                found.append((begin, after.at if after else None, frame.rows[row]))
            begin = after.at if after else 0.0
    return found


def _rule(number: int, since: float, until: float) -> str:
    """Return keyframes that show something from one part of the time to another."""
    after = "" if until >= 100 else f"{until:.2f}%{{visibility:hidden}}"
    before = f"0%{{visibility:hidden}}{since - 0.01:.2f}%{{visibility:hidden}}"
    shown = f"{since:.2f}%{{visibility:visible}}{min(until - 0.01, 100):.2f}%{{visibility:visible}}"
    return f"@keyframes k{number}{{{before}{shown}{after}}}\n"


def _row(row: int, runs: tuple[Run, ...]) -> str:
    y = BAR + (row + 1) * LINE
    return "".join(
        f'<text x="{PAD + column * CELL:.1f}" y="{y}" fill="{colour}" '
        f'textLength="{len(text) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
        f"{' font-weight=' + chr(34) + '600' + chr(34) if bold else ''}>{escape(text)}</text>"
        for column, text, colour, bold in runs
    )
