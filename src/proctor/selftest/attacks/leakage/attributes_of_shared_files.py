# title: Notes on files that all programs see: attributes, times, locks, leases
# kind: pair
# must: held
import fcntl
import string

for path in (os.__file__, string.__file__, "/usr/bin", "/dev/null", "/proc/self/fd/0", "/tmp", "."):
    for action in (
        lambda: os.setxattr(path, "user.left", bait["plant"].encode()), lambda: os.utime(path),
        lambda: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB),
    ):
        try:
            action()
        except OSError:
            pass
# --- second ---
import fcntl
import string
import time

for path in (os.__file__, string.__file__, "/usr/bin", "/dev/null", "/proc/self/fd/0", "/tmp", "."):
    try:
        if PLANTED.search(os.getxattr(path, "user.left")):
            found.append(f"attribute of {path}")
    except OSError:
        pass
    try:
        if not path.startswith(("/tmp", ".", "/proc")) and time.time() - os.stat(path).st_mtime < 1:
            found.append(f"times of {path}")
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        found.append(f"a lock on {path}")
    except OSError:
        pass
finish()
