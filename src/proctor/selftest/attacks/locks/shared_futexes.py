# title: Shared futexes, which wake whoever waits on the same place of a library
# kind: run
# must: held
# ways: run script command submission
# needs: kernel
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
