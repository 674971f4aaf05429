# title: Notes on files that all programs see: attributes, times
# kind: pair
# must: held
import string

for path in (os.__file__, string.__file__, "/usr/bin", "/dev/null", "/proc/self/fd/0", "/tmp", "."):
    for action in (
        lambda: os.setxattr(path, "user.left", bait["plant"].encode()), lambda: os.utime(path),
    ):
        try:
            action()
        except OSError:
            pass
# --- second ---
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
    except OSError:
        pass
finish()
