# title: Locks on files that all programs see, by which two that run at once could tell each other something
# kind: run
# must: held
# ways: run script command solver submission
# needs: kernel
import fcntl
import struct

places = [os.open(path, os.O_RDONLY) for path in (os.__file__, os.path.dirname(os.__file__))]
places += [os.open("/dev/null", os.O_RDWR), os.open("/dev/urandom", os.O_RDONLY), 0, 1, 2]
for fd in places:
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK):
        lock = struct.pack("hhqqi4x", kind, 0, 0, 1, 0)
        for command in (5, 6, 36, 37):  # F_GETLK, F_SETLK, F_OFD_GETLK, F_OFD_SETLK
            attempt(f"fcntl {command} with {kind}", fcntl.fcntl, fd, command, lock)
        attempt(f"a lease {kind}", fcntl.fcntl, fd, fcntl.F_SETLEASE, kind)
    for operation in (fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN, 32 | 64):  # LOCK_MAND | LOCK_READ
        attempt(f"flock {operation}", fcntl.flock, fd, operation | fcntl.LOCK_NB)
    attempt("who has a lease", fcntl.fcntl, fd, fcntl.F_GETLEASE)
    attempt("notices", fcntl.fcntl, fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
attempt("inotify", call, "inotify_init1", 0)
attempt("fanotify", call, "fanotify_init", 0, 0)
finish()
