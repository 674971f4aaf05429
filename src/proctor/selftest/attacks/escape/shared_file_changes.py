# title: Mode, owner, times and attributes of files that all programs and the host share
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import string

paths = [os.__file__, string.__file__, "/usr/bin", "/usr", "/bin/sh", "/etc/localtime", "/etc/ld.so.cache", "/tmp", "/", "/dev"]
paths += [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]
for path in paths:
    try:
        status = os.stat(path)
    except OSError:
        continue
    # What they are already: on a machine where this works nothing is broken by it.
    attempt(f"mode of {path}", os.chmod, path, status.st_mode & 0o7777)
    attempt(f"owner of {path}", os.chown, path, status.st_uid, status.st_gid)
    attempt(f"attributes of {path}", os.setxattr, path, "user.left", b"x")
    try:
        os.utime(path)  # "now" needs no more than the right to write
        found.append(f"times of {path}")
    except OSError:
        pass
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError:
        continue
    attempt(f"times of {path} by descriptor", os.utime, fd)
finish()
