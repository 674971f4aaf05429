"""Precompiled headers, the slowest part of compiling small C++ programs, made once.

They are made from the system's own header alone, in a cell, and lie in a directory that the cells
of compilers may read. A compiler that finds one made with other flags reads the header itself, so a
wrong one costs time and nothing else. Nobody else may write there.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

from proctor.languages.cache import directory
from proctor.languages.language import InstalledLanguage, expand
from proctor.limits import MIB, Limits
from proctor.sandbox.command import Command, disk_for
from proctor.sandbox.executor import Executor
from proctor.sandbox.machine.plain_file import is_own

_HEADER = "bits/stdc++.h"
# The header beside the precompiled one, for including it again or where the latter is unusable.
_BESIDE = "#pragma GCC system_header\n#include_next <bits/stdc++.h>\n"
_MOST = 8
"""Number of headers that are kept; each takes about 100 MB."""
_MOST_NEEDED = 1000
"""Most sets of flags to remember as used once; strangers may send many."""
# A precompiled header is used only if nothing but comments and directives comes before it. All is
# possessive: sources are hostile, and a thousand comments must not take for ever to refuse.
_FIRST_INCLUDE = re.compile(rb'\A(?>\s++|//[^\n]*+\n|/\*.*?\*/|#\s*+(?:pragma|define)[^\n]*+\n)*+'
                            rb'#\s*+include\s*+[<"]([^>"\n]++)[>"]', re.DOTALL)  # fmt: skip


class Headers:
    """A directory of precompiled headers. Each is made when it is needed for the second time."""

    def __init__(self, place: Path | None = None) -> None:
        """Make the directory, so that cells can be given it.

        Raises OSError, also where another user may write: a header changes what is compiled.
        """
        self.place = (place or directory()) / "headers"
        self._needed = (place or directory()) / "headers-needed"
        self.place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        self.place.mkdir(mode=0o755, exist_ok=True)
        for each in (self.place.parent, self.place):
            if not is_own(each.stat()):
                raise PermissionError(errno.EPERM, "another user may write to it", str(each))
        self._lock = threading.Lock()

    def flags(
        self,
        execute: Executor,
        found: InstalledLanguage,
        identity: str,
        source: bytes,
        flags: Sequence[str],
    ) -> tuple[str, ...]:
        """Return the arguments by which the compiler finds the header that `source` begins with."""
        first = _FIRST_INCLUDE.match(source)
        if found.language.family != "cpp" or first is None or first[1] != _HEADER.encode():
            return ()
        key = _key(identity, flags)
        made = self.place / key
        if not made.exists() and self._first_need(key):
            return ()
        if not self.ensure(execute, found, identity, flags):
            return ()
        with contextlib.suppress(FileNotFoundError):  # just removed: it will be made again
            os.utime(made)
        return ("-I", str(made))

    def ensure(
        self, execute: Executor, found: InstalledLanguage, identity: str, flags: Sequence[str]
    ) -> bool:
        """Return whether the header for these flags is there, or could be made. Raises InfraFault.

        `identity` is compiler.identity() of the language.
        """
        made = self.place / _key(identity, flags)
        with self._lock:
            there = (made / (_HEADER + ".gch")).is_file()
            return there or self._make(execute, found, flags, made)

    def _first_need(self, key: str) -> bool:
        """Return whether this is its first use: making it takes longer than one compilation."""
        self._needed.mkdir(mode=0o700, exist_ok=True)
        try:
            (self._needed / key).touch(exist_ok=False)
        except FileExistsError:
            return False
        if sum(1 for _ in self._needed.iterdir()) > _MOST_NEEDED:
            shutil.rmtree(self._needed, ignore_errors=True)
        return True

    def _make(
        self, execute: Executor, found: InstalledLanguage, flags: Sequence[str], made: Path
    ) -> bool:
        compile_ = found.language.compile
        assert compile_ is not None
        words = expand(
            compile_.command,
            {**found.tools, "flags": list(flags), "sources": [], "source": ""},
        )
        if "-o" not in words:  # a user's own definition, about which nothing is known
            return False
        output = words.index("-o")
        kept = [*words[:output], *words[output + 2 :]]
        command = Command(
            (*kept, "-x", "c++-header", "-o", "made.gch", "all.h"),
            files={"all.h": b"#include <bits/stdc++.h>\n"},
            collect=("made.gch",),
            most=512 * MIB,
        )
        limits = Limits(
            cpu=compile_.cpu, memory=compile_.memory, output=512 * MIB,
            disk=disk_for(command, 512 * MIB),
        )  # fmt: skip
        finished = execute(command, b"", limits)
        header = finished.files.get("made.gch")
        if header is None:
            return False
        self._publish(header, made)
        return True

    def _publish(self, header: bytes, made: Path) -> None:
        aside = self.place / f"{made.name}.{os.getpid()}-{secrets.token_hex(4)}.new"
        (aside / "bits").mkdir(parents=True)
        (aside / (_HEADER + ".gch")).write_bytes(header)
        (aside / _HEADER).write_text(_BESIDE, "utf-8")
        for path in (aside, aside / "bits"):
            path.chmod(0o755)
        for path in (aside / _HEADER, aside / (_HEADER + ".gch")):
            path.chmod(0o644)
        try:
            aside.rename(made)
        except OSError:  # another process was first
            shutil.rmtree(aside, ignore_errors=True)
        kept = sorted(self.place.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[_MOST:]:
            shutil.rmtree(path, ignore_errors=True)


def _key(identity: str, flags: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps([identity, list(flags), _BESIDE]).encode()).hexdigest()[:32]
