"""Programs that work on a session's workspace for the host, and the meaning of their outcomes.

They have no more rights than any other program of the session.
"""

import errno
import os
from collections.abc import Mapping, Sequence

from proctor.errors import FileRefused, InputError, must_be
from proctor.execution import Execution, LimitHit

_ERRNO_OF_LIMIT = {
    LimitHit.MEMORY: errno.ENOMEM,
    LimitHit.OUTPUT: errno.EFBIG,
    LimitHit.DISK: errno.ENOSPC,
    LimitHit.PROCESSES: errno.EAGAIN,
}
_REFUSED = 74  # EX_IOERR of sysexits.h

_WRITE = """
import os, sys
try:
    path = {path!r}
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        while part := sys.stdin.buffer.read(1 << 20):
            file.write(part)
except OSError as error:
    sys.stderr.write(f"{{error.errno}}")
    os._exit(sys.stderr.flush() or {refused})
"""
_READ = """
import errno, os, stat, sys
try:
    about = os.stat({path!r})
    # Asked first: where Landlock is, a directory cannot even be opened.
    if stat.S_ISDIR(about.st_mode):
        raise OSError(errno.EISDIR, "")
    if about.st_size > {most}:
        raise OSError(errno.EFBIG, "")
    with open({path!r}, "rb") as file:
        while part := file.read(1 << 20):
            sys.stdout.buffer.write(part)
except OSError as error:
    sys.stderr.write(f"{{error.errno}}")
    os._exit(sys.stderr.flush() or {refused})
"""
LIST = """
import json, os, stat
found = {}
for directory, _, names in os.walk("."):
    for name in names:
        path = os.path.join(directory, name)
        about = os.lstat(path)
        if stat.S_ISREG(about.st_mode):
            found[path[2:]] = about.st_size
print(json.dumps(found))
"""
"""Source that prints the regular files below the workspace and their sizes in bytes, as JSON."""
MAKE_TMP = "import os\nos.makedirs('.tmp', exist_ok=True)\n"
"""Source that makes the directory to which /tmp leads in a cell for tools."""
_COMMAND = """
import os
words = {words!r}
os.environ.update({env!r})
try:
    what = {cwd!r}
    if what:
        os.chdir(what)
    what = words[0]
    os.execvp(what, words)
except OSError as error:
    os.write(2, (what + ": " + os.strerror(error.errno) + "\\n").encode())
    os._exit(126 if isinstance(error, PermissionError) else 127)
"""


def writing(path: str) -> str:
    """Return the source that copies its input to a file. Raises InputError."""
    return _WRITE.format(path=_checked(path), refused=_REFUSED)


def reading(path: str, most: int) -> str:
    """Return the source that prints a file of up to `most` bytes. Raises InputError."""
    return _READ.format(path=_checked(path), most=most, refused=_REFUSED)


def command(words: Sequence[str], cwd: str | None, env: Mapping[str, str] | None) -> str:
    """Return the source that executes a program of the sandbox. Raises InputError.

    As with shells the exit code is 127 where there is no such program or directory, and 126 where
    the program may not be executed.
    """
    # A string is a sequence, too: of its characters.
    listed = isinstance(words, Sequence) and not isinstance(words, str)
    if not listed or not words or not all(isinstance(word, str) for word in words):
        raise InputError(
            'a command is a list of words, the first of them a program\'s name, as in ["ls", "-l"],'
            f" not {words!r:.80}"
        )
    variables = {} if env is None else env
    must_be(Mapping, variables, "env")
    texts = [*words, "" if cwd is None else cwd, *variables, *variables.values()]
    if not all(map(_is_name, texts)) or any("=" in name or not name for name in variables):
        raise InputError(
            "a command, its directory and environment are texts without NUL; no = in a name of it"
        )
    return _COMMAND.format(words=list(words), env=dict(variables), cwd=cwd)


def outcome(done: Execution, path: str) -> bytes:
    """Return the stdout of a program of this module. Raises FileRefused and InputError."""
    if done.limit is not None:
        number = _ERRNO_OF_LIMIT.get(done.limit, errno.ETIMEDOUT)
        raise FileRefused(f"the {done.limit} limit was hit on it", file=path, errno=number)
    stderr = done.stderr.decode("utf-8", "replace").strip()
    if done.exit_code == _REFUSED and stderr.isascii() and stderr.isdecimal() and len(stderr) < 5:
        raise FileRefused(os.strerror(int(stderr)), file=path, errno=int(stderr))
    if not done.ok:
        why = stderr.splitlines()[-1] if stderr else f"exit code {done.exit_code}"
        raise InputError(why, file=path)
    return done.stdout


def _checked(path: str) -> str:
    if not path or not _is_name(path):
        raise InputError("a path is text of at least one character, and no NUL", file=repr(path))
    return path


def _is_name(text: object) -> bool:
    """Return True if a program can be given the text as an argument."""
    if not isinstance(text, str) or "\0" in text:
        return False
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
