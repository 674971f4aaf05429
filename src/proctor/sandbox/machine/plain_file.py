"""Reading files that others may have written: regular ones only, links never followed."""

import errno
import os
import stat

from proctor.errors import InputError


def read(name: str, most: int, directory: int | None = None, *, own: bool = False) -> bytes:
    """Return the content of a file, by path or by name in `directory`, of up to `most` bytes.

    `own` refuses what another user than root has written, or may. Raises FileNotFoundError, and
    InputError for anything else: a link, a directory, a pipe, a device, a file that is too large or
    may not be read. Never waits.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=directory)
    except FileNotFoundError:
        raise
    except ValueError as error:  # NUL, or characters that no file name can hold
        raise InputError("is no file name", file=name) from error
    except OSError as error:  # ENXIO: a socket
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"cannot be read: {why}", file=name) from error
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise InputError("is not a regular file", file=name)
        if own and not is_own(about):
            raise InputError("belongs to another user, or may be written by one", file=name)
        if about.st_size > most:
            raise InputError(f"has {about.st_size} bytes, more than {most}", file=name)
        with open(fd, "rb", closefd=False) as file:
            data = file.read(most + 1) if about.st_size else b""
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=name) from error
    finally:
        os.close(fd)
    if len(data) > most:  # the file grew while it was read
        raise InputError(f"has more than {most} bytes", file=name)
    return data


def is_own(about: os.stat_result) -> bool:
    """Return whether only we and root can write to a file, or directory."""
    if not hasattr(os, "geteuid"):  # Windows, whose rights are not in the mode
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return about.st_uid in (0, os.geteuid()) and not about.st_mode & others
