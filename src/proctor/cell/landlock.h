/* Landlock: which paths a job may touch. Included once, by lockdown.c. */

/* Own names for the kernel's ABI, since build machines have older headers than hosts. */
enum {
    LL_EXECUTE = 1 << 0, LL_WRITE_FILE = 1 << 1, LL_READ_FILE = 1 << 2, LL_READ_DIR = 1 << 3,
    LL_MAKE_CHAR = 1 << 6, LL_MAKE_BLOCK = 1 << 11, LL_REFER = 1 << 13, LL_TRUNCATE = 1 << 14,
    LL_IOCTL_DEV = 1 << 15,
    LL_ABI1_ALL = (1 << 13) - 1,
    LL_ON_FILES = LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV,
};
enum { LANDLOCK_READ, LANDLOCK_DEVICE, LANDLOCK_WORK };

struct ruleset_attr { uint64_t fs, net, scoped; };
struct path_attr { uint64_t access; int32_t fd; } __attribute__((packed));

static long query_landlock_abi(void)
{
    long abi = syscall(NR_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
    return abi < 0 ? 0 : abi;
}

PyDoc_STRVAR(landlock_abi_doc, "landlock_abi() -> int\n\nThe kernel's Landlock ABI; 0: none.");

static PyObject *landlock_abi(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    return PyLong_FromLong(query_landlock_abi());
}

static int allow_path(int ruleset, const char *path, int kind, uint64_t handled)
{
    static const uint64_t ACCESS[] = {
        [LANDLOCK_READ] = LL_EXECUTE | LL_READ_FILE | LL_READ_DIR,
        [LANDLOCK_DEVICE] = LL_READ_FILE | LL_WRITE_FILE,
        [LANDLOCK_WORK] = ~(uint64_t)(LL_MAKE_CHAR | LL_MAKE_BLOCK | LL_IOCTL_DEV),
    };
    struct stat st;
    struct path_attr rule = { ACCESS[kind] & handled, open(path, O_PATH | O_CLOEXEC) };
    if (rule.fd < 0) return errno == ENOENT ? 0 : -1; /* nothing there, nothing to allow */
    int bad = fstat(rule.fd, &st);
    if (!bad && !S_ISDIR(st.st_mode)) rule.access &= LL_ON_FILES;
    if (!bad) bad = (int)syscall(NR_landlock_add_rule, ruleset, 1 /* PATH_BENEATH */, &rule, 0);
    int error = errno;
    close(rule.fd);
    errno = error;
    return bad;
}

PyDoc_STRVAR(landlock_ruleset_doc,
"landlock_ruleset(rules, tcp) -> fd\n\n"
"Prepares a ruleset from (path, kind) pairs, handling all rights the kernel knows, scopes and,\n"
"unless `tcp` is true, TCP included. Jobs enter it in spawn().");

static PyObject *landlock_ruleset(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *rules;
    int tcp;
    if (!PyArg_ParseTuple(args, "Op", &rules, &tcp)) return NULL;
    long abi = query_landlock_abi();
    struct ruleset_attr attr = { LL_ABI1_ALL, 0, 0 };
    if (abi >= 2) attr.fs |= LL_REFER;
    if (abi >= 3) attr.fs |= LL_TRUNCATE;
    if (abi >= 4 && !tcp) attr.net = 3;   /* bind and connect, TCP */
    if (abi >= 5) attr.fs |= LL_IOCTL_DEV;
    if (abi >= 6) attr.scoped = 3; /* abstract UNIX sockets, signals */
    size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    int fd = (int)syscall(NR_landlock_create_ruleset, &attr, size, 0);
    if (fd < 0) return PyErr_SetFromErrno(PyExc_OSError);
    for (Py_ssize_t i = 0, n = PySequence_Size(rules); i < n; i++) {
        const char *path;
        int kind;
        PyObject *rule = PySequence_GetItem(rules, i);
        int ok = rule && PyArg_ParseTuple(rule, "si", &path, &kind);
        if (ok && (kind < LANDLOCK_READ || kind > LANDLOCK_WORK)) {
            PyErr_SetString(PyExc_ValueError, "unknown kind of rule");
            ok = 0;
        } else if (ok && allow_path(fd, path, kind, attr.fs)) {
            PyErr_SetFromErrno(PyExc_OSError);
            ok = 0;
        }
        Py_XDECREF(rule);
        if (!ok) {
            close(fd);
            return NULL;
        }
    }
    return PyLong_FromLong(fd);
}

PyDoc_STRVAR(landlock_scope_doc,
"landlock_scope()\n\nFrom now on this process and its descendants can signal, and connect to abstract\n"
"sockets of, nobody but each other. Sets no_new_privs. Raises OSError without Landlock ABI 6.");

static PyObject *landlock_scope(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    struct ruleset_attr attr = { 0, 0, 3 };
    int fd = -1, bad = 1;
    if (query_landlock_abi() < 6) errno = EOPNOTSUPP;
    else fd = (int)syscall(NR_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (fd >= 0 && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        bad = (int)syscall(NR_landlock_restrict_self, fd, 0);
    if (bad) PyErr_SetFromErrno(PyExc_OSError);
    if (fd >= 0) close(fd);
    if (bad) return NULL;
    Py_RETURN_NONE;
}
