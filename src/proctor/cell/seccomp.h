/* seccomp: which system calls exist for a cell. Included once, by lockdown.c. */

#define LEN(array) (sizeof(array) / sizeof(array)[0])
#define ARG_LOW(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH(n) (ARG_LOW(n) + 4) /* both architectures are little-endian */
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))

enum {
    MOST_INSTRUCTIONS = 260 + 2 * (LEN(DENIED) + LEN(DENIED_OUTSIDE_A_BOX)
                               + LEN(DENIED_ON_SHARED_FILES))
                        + 6 * (LEN(SELF_ONLY) + 1 + LEN(SELF_ONLY_OUTSIDE_A_BOX))
                        + LEN(IOCTLS_OUTSIDE_A_BOX),
};

/* What the cell lacks, for which the filter must make up; and BROKERED, if the cell answers socket(). */
enum { NO_BOX = 1, MEMORY_UNCOUNTED = 2, CPU_UNCOUNTED = 4, SHARED_FILES = 8, BROKERED = 16 };
enum { RET_USER_NOTIF = 0x7fc00000 };

struct program { struct sock_filter code[MOST_INSTRUCTIONS]; unsigned short n; };

static void emit(struct program *p, struct sock_filter instruction)
{
    p->code[p->n++] = instruction;
}

#define EMIT(...) emit(p, (struct sock_filter)__VA_ARGS__)

/* `call` is allowed only if argument `arg` equals `value`; otherwise it fails with `error`. */
static void allow_only(struct program *p, int call, int arg, uint32_t value, int error)
{
    EMIT(SKIP_UNLESS(call, 4));
    EMIT(LOAD(ARG_LOW(arg)));
    EMIT(SKIP_UNLESS(value, 1));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
    EMIT(REFUSE(error));
}

static void refuse(struct program *p, int call, int error)
{
    EMIT(SKIP_UNLESS(call, 1));
    EMIT(REFUSE(error));
}

static void refuse_all(struct program *p, const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) refuse(p, calls[i], EPERM);
}

/* `call` fails if argument `arg` has any bit of `mask` set. */
static void refuse_flags(struct program *p, int call, int arg, uint32_t mask)
{
    EMIT(SKIP_UNLESS(call, 4));
    EMIT(LOAD(ARG_LOW(arg)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1));
    EMIT(REFUSE(EPERM));
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
}

/* `call` fails if argument `arg` equals `value`. */
static void refuse_value(struct program *p, int call, int arg, uint32_t value)
{
    EMIT(SKIP_UNLESS(call, 4));
    EMIT(LOAD(ARG_LOW(arg)));
    EMIT(SKIP_UNLESS(value, 1));
    EMIT(REFUSE(EPERM));
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
}

/* ioctl is allowed only with one of these requests. */
static void allow_ioctls(struct program *p, const uint32_t *requests, size_t n)
{
    EMIT(SKIP_UNLESS(SYS_ioctl, (uint8_t)(n + 3)));
    EMIT(LOAD(ARG_LOW(1)));
    for (size_t i = 0; i < n; i++)
        EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, requests[i], (uint8_t)(n - i), 0));
    EMIT(REFUSE(ENOTTY));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
}

/* `call` fails if argument `arg`, seen through `mask`, equals `value`. */
static void refuse_masked(struct program *p, int call, int arg, uint32_t mask, uint32_t value)
{
    EMIT(SKIP_UNLESS(call, 5));
    EMIT(LOAD(ARG_LOW(arg)));
    EMIT(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    EMIT(SKIP_UNLESS(value, 1));
    EMIT(REFUSE(EPERM));
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
}

/* Children of a process that ignores SIGCHLD vanish, and so do the figures of what they used. Asking
 * for the signal's action is allowed, and changing it has no effect instead of failing: Node.js and Go
 * do both with all signals when they start, and end if that fails. */
static void leave_sigchld(struct program *p)
{
    EMIT(SKIP_UNLESS(SYS_rt_sigaction, 9));
    EMIT(LOAD(ARG_LOW(0)));
    EMIT(SKIP_UNLESS(SIGCHLD, 6));
    EMIT(LOAD(ARG_LOW(1)));
    EMIT(BPF_STMT(BPF_MISC | BPF_TAX, 0));
    EMIT(LOAD(ARG_HIGH(1)));
    EMIT(BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0)); /* no new action: it only asks */
    EMIT(REFUSE(0));
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
}

/* Allows callers that give the key; otherwise goes on after these 7 instructions. */
static void allow_with_key(struct program *p, const struct key *key)
{
    for (int i = 0; i < 3; i++) {
        EMIT(LOAD(ARG_HIGH(i)));
        EMIT(SKIP_UNLESS(key->parts[i], (uint8_t)(5 - 2 * i)));
    }
    EMIT(RETURN(SECCOMP_RET_ALLOW));
}

/* Asking for other buffer sizes of a socket has no effect, but does not fail: programs do it to be
 * faster, and go on. */
static void keep_buffers(struct program *p, const struct key *key)
{
    EMIT(SKIP_UNLESS(SYS_setsockopt, 12));
    EMIT(LOAD(ARG_LOW(2)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SO_SNDBUF, 1, 0));
    EMIT(SKIP_UNLESS(SO_RCVBUF, 8));
    allow_with_key(p, key);
    EMIT(REFUSE(0));
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
}

/* socket() makes UNIX sockets. It makes internet sockets for callers that give the key, and asks the
 * agent about those for others. */
static void ask_for_sockets(struct program *p, const struct key *key)
{
    EMIT(SKIP_UNLESS(SYS_socket, 13));
    EMIT(LOAD(ARG_LOW(0)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 8, 0));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0));
    EMIT(SKIP_UNLESS(AF_INET6, 8));
    allow_with_key(p, key);
    EMIT(RETURN(RET_USER_NOTIF));
    EMIT(REFUSE(EAFNOSUPPORT));
}

static void build_filter(struct program *p, int lacks, const struct key *key)
{
    p->n = 0;
    EMIT(LOAD(offsetof(struct seccomp_data, arch)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
    EMIT(RETURN(SECCOMP_RET_KILL_PROCESS));
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
#ifdef X32_BIT
    EMIT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
    EMIT(REFUSE(ENOSYS));
#endif
    /* Calls that the kernel gains after this was written. */
    EMIT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NR_FIRST_UNKNOWN, 0, 1));
    EMIT(REFUSE(ENOSYS));
    /* clone3 hides its flags behind a pointer; libc falls back to clone on ENOSYS. */
    refuse(p, NR_clone3, ENOSYS);
    /* CLONE_PARENT would make a job's child the agent's. */
    refuse_flags(p, SYS_clone, 0, CLONE_NEWUSER | CLONE_PARENT);
    refuse_flags(p, SYS_unshare, 0, CLONE_NEWUSER);
    /* Out-of-band data on UNIX sockets: nobody needs it, and several kernel exploits use it. */
    refuse_flags(p, SYS_sendto, 3, MSG_OOB);
    refuse_flags(p, SYS_sendmsg, 2, MSG_OOB);
    refuse_flags(p, SYS_sendmmsg, 3, MSG_OOB);
    /* A filter's listener would answer for other processes. */
    refuse_flags(p, SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    /* F_NOTIFY is an older form of inotify; and a lease holds up whoever wants to write. */
    refuse_value(p, SYS_fcntl, 1, F_NOTIFY);
    refuse_value(p, SYS_fcntl, 1, F_SETLEASE);
    /* Notes could be left on files that all cells share, and in which of their pages are in memory: by
     * hints of how long what is written will live, and by dropping pages and asking which are there. */
    for (uint32_t hint = 1035 /* F_GET_RW_HINT */; hint <= 1038 /* F_SET_FILE_RW_HINT */; hint++)
        refuse_value(p, SYS_fcntl, 1, hint);
    refuse_value(p, SYS_fadvise64, 3, POSIX_FADV_DONTNEED);
    refuse_value(p, SYS_madvise, 2, 20 /* MADV_COLD */);
    refuse_value(p, SYS_madvise, 2, 21 /* MADV_PAGEOUT */);
    refuse_flags(p, SYS_preadv2, 5, 8 /* RWF_NOWAIT */);
    /* A number that counts those of the machine's sockets whose number anybody has asked for. */
    refuse_value(p, SYS_getsockopt, 2, 57 /* SO_COOKIE */);
    refuse_value(p, SYS_getsockopt, 2, 71 /* SO_NETNS_COOKIE */); /* likewise, of its network namespaces */
    /* Ciphers in the kernel: nobody needs them on a loopback interface, and many exploits use them. */
    refuse_value(p, SYS_setsockopt, 2, 31 /* TCP_ULP */);
    /* Newer twins of futex; libraries use the old call where these are missing. */
    refuse(p, NR_futex_waitv, ENOSYS);
    refuse(p, NR_futex_wake, ENOSYS);
    refuse(p, NR_futex_wait, ENOSYS);
    refuse(p, NR_futex_requeue, ENOSYS);
    /* A core to a job alone slows others down; merged pages show by their speed who else has the same. */
    refuse_value(p, SYS_prctl, 0, 62 /* PR_SCHED_CORE */);
    refuse_value(p, SYS_prctl, 0, 67 /* PR_SET_MEMORY_MERGE */);
    refuse_value(p, SYS_madvise, 2, MADV_MERGEABLE);
    if (lacks & SHARED_FILES) refuse_all(p, DENIED_ON_SHARED_FILES, LEN(DENIED_ON_SHARED_FILES));
    if (lacks & NO_BOX) {
        refuse_all(p, DENIED_OUTSIDE_A_BOX, LEN(DENIED_OUTSIDE_A_BOX));
        refuse_flags(p, SYS_socketpair, 1, SOCK_DGRAM); /* could send to any address; includes raw */
        /* pthread_getattr_np asks for a thread's CPUs by its number, and does without only if there is
         * no such call: after another error Java, Rust and Mono would not start. */
        allow_only(p, SYS_sched_getaffinity, 0, 0, ENOSYS);
        for (size_t i = 0; i < LEN(SELF_ONLY_OUTSIDE_A_BOX); i++)
            allow_only(p, SELF_ONLY_OUTSIDE_A_BOX[i], 0, 0, EPERM);
        allow_only(p, SYS_getpriority, 1, 0, EPERM);
        allow_only(p, SYS_ioprio_get, 1, 0, EPERM);
        allow_ioctls(p, IOCTLS_OUTSIDE_A_BOX, LEN(IOCTLS_OUTSIDE_A_BOX));
    }
    /* Pages of a file that is not mapped belong to no process whose memory could be read; and shared
     * memory is a file, which lives on whole while any part of it is mapped. */
    if (lacks & MEMORY_UNCOUNTED) {
        refuse(p, SYS_memfd_create, ENOSYS);
        refuse_masked(p, SYS_mmap, 3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS);
        keep_buffers(p, key);
    }
    if (lacks & CPU_UNCOUNTED) leave_sigchld(p);
    for (size_t i = 0; i < LEN(SELF_ONLY); i++) allow_only(p, SELF_ONLY[i], 0, 0, EPERM);
    if (lacks & BROKERED) ask_for_sockets(p, key);
    else allow_only(p, SYS_socket, 0, AF_UNIX, EAFNOSUPPORT);
    allow_only(p, SYS_socketpair, 0, AF_UNIX, EAFNOSUPPORT);
    refuse_all(p, DENIED, LEN(DENIED));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
}

/* Refuses jobs what two cells can do to the same file: a lock or a wake-up would be a note from one
 * program to another, and with notes answers can be guessed. Which file it is, no filter sees; so jobs
 * that need locks on files of their own (databases, package managers, build tools) are let off all of
 * it. The error is that of a kernel without locks, since after others programs wait and try again.
 *
 * A semaphore in /dev/shm takes a wake-up, and a filter sees no difference between its address and that
 * of a shared library. Jobs with /dev/shm may do that much (`may_wake`): the end of a thread does the same
 * to any address, in every job. */
static void build_lockless_filter(struct program *p, int may_wake)
{
    static const uint32_t LOCKS[] = { F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK,
                                      F_OFD_SETLKW, F_GETLEASE };
    p->n = 0;
    EMIT(LOAD(offsetof(struct seccomp_data, nr)));
    refuse(p, SYS_flock, ENOSYS);
    EMIT(SKIP_UNLESS(SYS_fcntl, LEN(LOCKS) + 3));
    EMIT(LOAD(ARG_LOW(1)));
    for (size_t i = 0; i < LEN(LOCKS); i++)
        EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOCKS[i], (uint8_t)(LEN(LOCKS) - i), 0));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
    EMIT(REFUSE(ENOSYS));
    /* On futexes that are not private to the process mostly waiting is needed: for the end of a thread,
     * which the kernel announces. */
    EMIT(SKIP_UNLESS(SYS_futex, 8));
    EMIT(LOAD(ARG_LOW(1)));
    EMIT(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)256 /* FUTEX_CLOCK_REALTIME */));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 128 /* FUTEX_PRIVATE_FLAG */, 3, 0));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0 /* FUTEX_WAIT */, 2, 0));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, may_wake ? 1 /* FUTEX_WAKE */ : 0, 1, 0));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 9 /* FUTEX_WAIT_BITSET */, 0, 1));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
    EMIT(REFUSE(EPERM));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
}

PyDoc_STRVAR(install_seccomp_doc,
"install_seccomp(lacks)\n\nLocks this process and all it will ever start out of risky system calls.\n"
"`lacks` says which further ones: NO_BOX, SHARED_FILES, MEMORY_UNCOUNTED, CPU_UNCOUNTED; with\n"
"BROKERED jobs can be given sockets. Sets no_new_privs. Cannot be undone. Raises OSError, for BROKERED\n"
"where the kernel cannot do that, which may be tried again without.");

static PyObject *install_seccomp(PyObject *self, PyObject *args)
{
    (void)self;
    int lacks, listener = 0;
    static struct program program, lockless[2];
    struct key key = { { 0 } };
    if (!PyArg_ParseTuple(args, "i", &lacks)) return NULL;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* jobs must not look into the agent */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return PyErr_SetFromErrno(PyExc_OSError);
    cell.key = memfd_create("key", MFD_CLOEXEC);
    if (cell.key < 0 || getrandom(&key, sizeof key, 0) != sizeof key
        || write(cell.key, &key, sizeof key) != sizeof key)
        return PyErr_SetFromErrno(PyExc_OSError);
    build_filter(&program, lacks, &key);
    for (int shm = 0; shm < 2; shm++) {
        build_lockless_filter(&lockless[shm], shm);
        cell.lockless[shm] = (struct sock_fprog){ lockless[shm].n, lockless[shm].code };
    }
    struct sock_fprog filter = { program.n, program.code };
    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            lacks & BROKERED ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &filter);
    int error = errno;
    /* Jobs are forked with this memory. */
    explicit_bzero(&key, sizeof key);
    explicit_bzero(&program, sizeof program);
    errno = error;
    if (listener < 0) return PyErr_SetFromErrno(PyExc_OSError);
    if (!(lacks & BROKERED)) Py_RETURN_NONE;
    struct notif_addfd nobodys = { 0, ADDFD_AND_SEND, (uint32_t)cell.key, 0, 0 };
    if (ioctl(listener, NOTIF_ADDFD, &nobodys) && errno != ENOENT) /* Linux before 5.14 */
        return PyErr_SetFromErrno(PyExc_OSError);
    cell.listener = listener;
    Py_RETURN_NONE;
}
