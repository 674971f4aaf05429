"""Files that only their owner can open: secrets, and what locks are held on.

Another user's lock on a file that he may open stops whoever needs it for as long as he likes, and
what he may write he may forge.
"""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from proctor.errors import InputError
from proctor.variables import base_directory

SECRET_SIZE = 32
"""Bytes of a secret."""
_OTHERS = 0o077
_TRIES = 10
"""Files that are tried, if others put another in place of each meanwhile."""


class HeldByAnother(Exception):
    """Another process holds the lock; the text says which, as far as that is known."""

    def __init__(self, held: list[int], *, usurped: bool) -> None:
        shown = [f"process {each} of user {_user_of(each)}" for each in held]
        super().__init__(" and ".join(shown) or "a process that cannot be seen from here")
        self.usurped = usurped
        """True if others hold the lock, or may do so, and neither we nor root are known to."""


def state_directory() -> Path:
    """Return the user's directory for what proctor keeps. Raises RuntimeError if he has no home."""
    home = base_directory("XDG_STATE_HOME", "~/.local/state")
    if not home.is_absolute():
        raise RuntimeError("there is no home directory")
    return home / "proctor"


def private_directory() -> Path:
    """Return `state_directory`, made if missing, if nobody else may write there.

    Raises InputError, OSError, RuntimeError.
    """
    directory = state_directory()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_private(directory)
    return directory


def check_private(path: Path) -> None:
    """Raise InputError if another user owns a file or directory, or may write to it."""
    about = path.stat()
    if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            "others may write to it, and could forge what is in it: it must belong to whoever uses"
            " it, and to nobody else (chown, chmod go-w)",
            file=str(path),
        )


def secret_of(path: Path) -> bytes:
    """Return the secret in a file; create it if missing. Raises InputError, OSError."""
    if not path.exists():
        aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                os.write(descriptor, secrets.token_bytes(SECRET_SIZE))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            with contextlib.suppress(FileExistsError):  # another process has been quicker
                os.link(aside, path)
        finally:
            aside.unlink()
    check_private(path)
    if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        raise InputError("others may read it (chmod go-r)", file=str(path))
    secret = path.read_bytes()
    if len(secret) != SECRET_SIZE:
        raise InputError("is not a secret of proctor's; remove it", file=str(path))
    return secret


def is_open_to_others(about: os.stat_result) -> bool:
    """Return True for a file of ours that another user may open."""
    return about.st_uid == os.geteuid() and bool(about.st_mode & _OTHERS)


def open_alone(path: Path, flags: int = 0) -> int:
    """Open a file that only its owner can open, made if missing; return its descriptor.

    One that other users could open, and may have locked, gives way to a new one. `flags` are
    further ones of opening. Raises OSError.
    """
    wanted = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags
    for _ in range(_TRIES):
        fd = os.open(path, wanted, 0o600)
        if not is_open_to_others(os.fstat(fd)):
            return fd
        os.close(fd)
        path.unlink(missing_ok=True)
    raise PermissionError(errno.EPERM, "is opened to others again and again", str(path))


def locked(path: Path, flags: int = 0) -> int:
    """Open a regular file that only its owner can open, made if missing; return it locked.

    `flags` are further ones of opening. Raises HeldByAnother if a process has the lock, InputError
    for what is no regular file, and OSError.
    """
    import fcntl  # missing on Windows, where this module is loaded but this is never called

    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise InputError("is not a regular file, and cannot be locked", file=str(path))
        if was_open := is_open_to_others(os.fstat(fd)):
            os.fchmod(fd, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        held = holders(os.fstat(fd).st_ino)
        os.close(fd)
        users = {_user_of(each) for each in held}
        ours = users & {0, os.geteuid()}
        strangers = bool(held) and not ours and None not in users
        raise HeldByAnother(held, usurped=strangers or (was_open and not ours)) from error
    except BaseException:
        os.close(fd)
        raise
    return fd


def lock_alone(path: Path, flags: int = 0) -> int:
    """Lock a file whose loss costs nothing; return its descriptor. Raises as `locked`.

    One that other users could open gives way to a new one if no process of ours, or root's, is
    known to hold it.
    """
    for _ in range(_TRIES):
        try:
            fd = locked(path, os.O_NOFOLLOW | flags)
        except HeldByAnother as error:
            if not error.usurped:
                raise
            path.unlink(missing_ok=True)
            continue
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), path.lstat()):
                return fd
        os.close(fd)  # another process has put a new one in its place
    raise HeldByAnother([], usurped=True)


def lock_in_turn(path: Path, flags: int = 0) -> int:
    """Call `lock_alone`, but wait for as long as a process of ours has the lock. Raises OSError."""
    import fcntl

    try:
        return lock_alone(path, flags)
    except HeldByAnother:
        fd = open_alone(path, flags)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        except BaseException:
            os.close(fd)
            raise
        return fd


def holders(number: int) -> list[int]:
    """Return the processes known to hold a lock of the kind `flock` on the file of this number."""
    try:
        lines = Path("/proc/locks").read_text("ascii").splitlines()
    except OSError:
        return []
    # Not by the device too: that of an overlay's file is another there than in its status.
    found = (words for words in map(str.split, lines) if "FLOCK" in words and len(words) > 5)
    return [int(words[4]) for words in found if words[5].endswith(f":{number}")]


def _user_of(process: int) -> int | None:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}").stat().st_uid
    return None
