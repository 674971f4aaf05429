# title: Shared memory, queues, semaphores and keys of an earlier program
# kind: pair
# must: held
KEY = 0x70726F63
libc.shmat.restype = ctypes.c_void_p
for name, arguments in (("shmget", (KEY, 4096, 0o1666)), ("msgget", (KEY, 0o1666)), ("semget", (KEY, 1, 0o1666)),
                        ("add_key", (b"user", b"proctor-left", b"x", 1, -4)), ("add_key", (b"user", b"proctor-left", b"x", 1, -3)),
                        ("mq_open", (b"proctor-left", 0o102, 0o666, None))):
    try:
        call(name, *arguments)
    except OSError:
        pass
libc.sem_open.restype = ctypes.c_void_p
libc.sem_open(b"/proctor-left", os.O_CREAT, 0o666, 1)
libc.shm_open(b"/proctor-left-memory", os.O_CREAT | os.O_RDWR, 0o666)
# --- second ---
KEY = 0x70726F63
attempt("a segment", call, "shmget", KEY, 4096, 0)
attempt("a message queue", call, "msgget", KEY, 0)
attempt("a semaphore set", call, "semget", KEY, 1, 0)
attempt("a key", call, "request_key", b"user", b"proctor-left", None, -2)
attempt("a POSIX queue", call, "mq_open", b"proctor-left", 0, 0, None)
libc.sem_open.restype = ctypes.c_void_p
if libc.sem_open(b"/proctor-left", 0):
    found.append("a named semaphore")
if libc.shm_open(b"/proctor-left-memory", os.O_RDWR, 0) >= 0:
    found.append("named shared memory")
finish()
