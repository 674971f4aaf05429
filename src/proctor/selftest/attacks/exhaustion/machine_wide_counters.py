# title: Things counted for the whole machine or user: inotify, asynchronous I/O, queues, semaphores
# kind: run
# must: held
# needs: kernel
for what, name, arguments in (
    ("asynchronous I/O", "io_setup", (1000, ctypes.byref(ctypes.c_ulong(0)))),
    ("inotify", "inotify_init1", (0,)),
    ("a semaphore set", "semget", (0, 1, 0o1600)),
    ("a message queue", "msgget", (0, 0o1600)),
    ("a shared segment", "shmget", (0, 4096, 0o1600)),
    ("a POSIX queue", "mq_open", (bait["leave"].encode(), 0o102, 0o600, None)),
    ("a key", "add_key", (b"user", b"left", b"x", 1, -2)),
):
    attempt(what, call, name, *arguments)
finish()
