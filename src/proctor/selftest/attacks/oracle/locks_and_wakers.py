# title: Locks and shared futexes, by which programs in two cells could tell each other what was right
# kind: run
# must: held
# judged: yes
# needs: kernel
import fcntl

everywhere = [os.open("/dev/null", os.O_RDWR), os.open(os.__file__, os.O_RDONLY)]
for fd in (*everywhere, 0):
    attempt("a lock of the process's", fcntl.lockf, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    attempt("a lock of the file's", fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    question = __import__("struct").pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)
    attempt("who has locked", fcntl.fcntl, fd, fcntl.F_GETLK, question)
    attempt("a lock of the open file's", fcntl.fcntl, fd, fcntl.F_OFD_SETLK, question)
    attempt("who has locked open files", fcntl.fcntl, fd, fcntl.F_OFD_GETLK, question)
    attempt("who has a lease", fcntl.fcntl, fd, fcntl.F_GETLEASE)
word = ctypes.c_void_p(ctypes.cast(libc.printf, ctypes.c_void_p).value & ~3)  # libc's own text
for operation in (1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13):
    try:
        call("futex", word, operation, 1, 0, 0, 1)
    except OSError as error:
        if error.errno == errno.EPERM:
            continue
    found.append(f"the shared futex's operation {operation}")
for newer in ("futex_waitv", "futex_wake", "futex_wait", "futex_requeue"):
    try:
        call(newer, word, 1, 1, 0, 0, 1)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM):
            continue
    found.append(newer)
finish()
