/* seccomp: which system calls exist for a cell. Included once, by lockdown.c. */

#define LEN(array) (sizeof(array) / sizeof(array)[0])
#define ARG_LOW(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))

enum { MOST_INSTRUCTIONS = 64 + 2 * LEN(DENIED) + 6 * LEN(SELF_ONLY) };

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

/* `call` fails if argument `arg` has any bit of `mask` set. */
static void refuse_flags(struct program *p, int call, int arg, uint32_t mask)
{
    EMIT(SKIP_UNLESS(call, 4));
    EMIT(LOAD(ARG_LOW(arg)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1));
    EMIT(REFUSE(EPERM));
    EMIT(RETURN(SECCOMP_RET_ALLOW));
}

static void build_filter(struct program *p)
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
    /* clone3 hides its flags behind a pointer; libc falls back to clone on ENOSYS. */
    EMIT(SKIP_UNLESS(NR_clone3, 1));
    EMIT(REFUSE(ENOSYS));
    /* CLONE_PARENT would make a job's child the agent's. */
    refuse_flags(p, SYS_clone, 0, CLONE_NEWUSER | CLONE_PARENT);
    refuse_flags(p, SYS_unshare, 0, CLONE_NEWUSER);
    /* Out-of-band data on UNIX sockets: nobody's need, and the way of several kernel exploits. */
    refuse_flags(p, SYS_sendto, 3, MSG_OOB);
    refuse_flags(p, SYS_sendmsg, 2, MSG_OOB);
    refuse_flags(p, SYS_sendmmsg, 3, MSG_OOB);
    for (size_t i = 0; i < LEN(SELF_ONLY); i++) allow_only(p, SELF_ONLY[i], 0, 0, EPERM);
    allow_only(p, SYS_socket, 0, AF_UNIX, EAFNOSUPPORT);
    allow_only(p, SYS_socketpair, 0, AF_UNIX, EAFNOSUPPORT);
    for (size_t i = 0; i < LEN(DENIED); i++) {
        EMIT(SKIP_UNLESS(DENIED[i], 1));
        EMIT(REFUSE(EPERM));
    }
    EMIT(RETURN(SECCOMP_RET_ALLOW));
}

PyDoc_STRVAR(install_seccomp_doc,
"install_seccomp()\n\nLocks this process and all it will ever start out of risky system calls.\n"
"Sets no_new_privs. Cannot be undone.");

static PyObject *install_seccomp(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    static struct program program;
    build_filter(&program);
    struct sock_fprog filter = { program.n, program.code };
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* jobs must not look into the agent */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}
