/* The loops that fork: the agent's over jobs, a serving job's over tests. Included by lockdown.c.
 *
 * In C, because the fork write-protects the parent's pages too: a parent that returned to Python
 * would pay over a hundred page faults per job just to go round its loop. Each function returns to
 * Python in the child only. The structs mirror wire.py, which has their meaning.
 */

struct __attribute__((packed)) request {
    uint8_t kind;
    uint64_t cpu, address_space, file_size, processes, stack, disk;
    char function[64];
};
struct __attribute__((packed)) result {
    int32_t status;
    double user, system;
    uint64_t peak, wall;
    int32_t step, error;
};
struct __attribute__((packed)) ended {
    uint8_t tag;
    int32_t status;
    double user, system;
    uint64_t peak;
};
_Static_assert(sizeof(struct request) == 113 && sizeof(struct result) == 44
               && sizeof(struct ended) == 29, "differs from wire.py");

enum { KIND_RUN = 0, KIND_OFFICIAL = 3, TAG_ENDED = 3, MOST_FDS = 5 };

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* One message and its descriptors; the length, 0 when the other side is gone, -1 on error. */
static ssize_t receive(int fd, void *data, size_t size, int *fds, int *n_fds)
{
    char control[CMSG_SPACE(sizeof(int) * MOST_FDS)];
    struct iovec part = { data, size };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                              .msg_controllen = sizeof control };
    ssize_t n;
    do n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    *n_fds = 0;
    if (n < 0) return n;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            *n_fds = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), (size_t)*n_fds * sizeof(int));
        }
    return n;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++) close(fds[i]);
}

/* Ends a job: its namespace if it has one, else its process group (which it may not have yet). */
static void end_job(pid_t pid, pid_t stub)
{
    if (stub ? kill(stub, SIGKILL) : killpg(pid, SIGKILL)) kill(pid, SIGKILL);
}

/* Waits for a job's end, or for the host's word to end it; leaves nothing of it alive. */
static void supervise(int control, pid_t pid, pid_t stub, uint64_t started)
{
    int pidfd = (int)syscall(NR_pidfd_open, pid, 0);
    struct pollfd watched[2] = { { pidfd, POLLIN, 0 }, { control, POLLIN, 0 } };
    if (pidfd < 0) { /* out of descriptors or memory: a job we cannot watch must not run */
        end_job(pid, stub);
        watched[0].revents = POLLIN;
    }
    while (!watched[0].revents) {
        char word;
        if (poll(watched, 2, -1) < 0 && errno != EINTR) _exit(1);
        if (!watched[1].revents || watched[0].revents) continue;
        if (recv(control, &word, 1, 0) != 1) _exit(0); /* the host is gone; the box dies with us */
        end_job(pid, stub);
    }
    struct rusage usage;
    int status;
    struct result result = { .wall = now_ns() - started };
    if (pidfd >= 0) close(pidfd);
    wait4(pid, &status, 0, &usage);
    if (stub) {
        kill(stub, SIGKILL);
        /* Whatever else became our child must be reaped too, or the namespace never ends. */
        while (waitpid(-1, NULL, 0) != stub) {}
    } else {
        killpg(pid, SIGKILL);
    }
    result.status = status;
    result.user = seconds(usage.ru_utime);
    result.system = seconds(usage.ru_stime);
    result.peak = (uint64_t)usage.ru_maxrss * 1024;
    if (cell.progress->step != STEP_DONE) {
        result.step = cell.progress->step;
        result.error = cell.progress->error;
    }
    send(control, &result, sizeof result, MSG_NOSIGNAL);
}

/* Forks and locks down one job. Returns its pid, 0 in the child, -1 on failure. */
static pid_t spawn(const struct request *request, const int *fds, int n_fds, int null, pid_t *stub)
{
    struct job job = { .cpu = request->cpu, .address_space = request->address_space,
                       .file_size = request->file_size, .processes = request->processes,
                       .stack = request->stack, .disk = request->disk };
    int streams = request->kind == KIND_RUN ? 3 : 0; /* tests bring streams of their own */
    for (int i = 0; i < 3; i++) job.streams[i] = streams ? fds[i] : null;
    for (int i = streams; i < n_fds; i++) job.kept[job.n_kept++] = fds[i];
    if (cell.features & FEATURE_LANDLOCK) job.kept[job.n_kept++] = cell.ruleset;
    cell.progress->step = STEP_NONE;
    cell.progress->error = 0;
    pid_t pid = cell.features & FEATURE_PIDNS ? fork_behind_stub(stub) : fork();
    if (pid == 0) {
        /* Opened anew: what one job sets on an open file, the next would find there. */
        if (streams == 1)
            job.streams[0] = job.streams[1] = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (lock_down(&job)) {
            cell.progress->error = errno;
            _exit(1);
        }
        munmap((void *)cell.progress, sizeof *cell.progress);
        cell.progress = NULL;
    }
    return pid;
}

PyDoc_STRVAR(serve_doc,
"serve(control_fd, null_fd, wear) -> (kind, function)\n\n"
"The agent's loop. Returns in a locked-down job, with its descriptors in place. `wear(official)` is\n"
"called before a fork whenever the kind of job changes to or from official. Raises OSError if a\n"
"fork fails.");

static PyObject *serve(PyObject *self, PyObject *args)
{
    (void)self;
    int control, null, official = 0;
    PyObject *wear;
    if (!PyArg_ParseTuple(args, "iiO", &control, &null, &wear)) return NULL;
    for (;;) {
        struct request request;
        int fds[MOST_FDS], n_fds;
        ssize_t size = receive(control, &request, sizeof request, fds, &n_fds);
        if (size <= 0) _exit(0);
        if (size != sizeof request) continue; /* KILL that crossed a job's natural end */
        uint64_t started = now_ns();
        if ((request.kind == KIND_OFFICIAL) != official) {
            official = !official;
            PyObject *done = PyObject_CallFunction(wear, "i", official);
            if (!done) return NULL;
            Py_DECREF(done);
        }
        pid_t stub = 0, pid = spawn(&request, fds, n_fds, null, &stub);
        if (pid < 0) return PyErr_SetFromErrno(PyExc_OSError);
        if (pid == 0)
            return Py_BuildValue("iy#", request.kind, request.function,
                                 (Py_ssize_t)strnlen(request.function, sizeof request.function));
        close_all(fds, n_fds);
        supervise(control, pid, stub, started);
    }
}

/* Ends whatever a test left running, so that it cannot meet the next one. The kernel lets no fork
 * slip past a pending SIGKILL, so this ends. Only in a PID namespace: there our parent, the agent,
 * is out of sight, and -1 means everything but ourselves and the init. */
static void kill_leftovers(void)
{
    if (getppid() != 0) return;
    while (kill(-1, SIGKILL) == 0) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
        sched_yield();
    }
}

PyDoc_STRVAR(serve_tests_doc,
"serve_tests(feed_fd)\n\n"
"A serving job's loop: forks one process per test. Returns in the test's process, with its streams\n"
"on 0-2, a function's result file on 3, and no other descriptor.");

static PyObject *serve_tests(PyObject *self, PyObject *args)
{
    (void)self;
    int feed;
    if (!PyArg_ParseTuple(args, "i", &feed)) return NULL;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* tests must not look into the process that forks them */
    /* Nor signal it: Python's handlers would leave a note that every later test is forked with. */
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    for (;;) {
        char word;
        struct job job = { 0 };
        int fds[MOST_FDS], n_fds, status;
        if (receive(feed, &word, 1, fds, &n_fds) != 1 || n_fds < 3) _exit(0);
        memcpy(job.streams, fds, sizeof job.streams);
        for (int i = 3; i < n_fds; i++) job.kept[job.n_kept++] = fds[i];
        pid_t pid = fork();
        if (pid < 0) _exit(1);
        if (pid == 0) {
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
            sigprocmask(SIG_SETMASK, &old, NULL);
            setsid();
            if (place_descriptors(&job)) _exit(1);
            Py_RETURN_NONE;
        }
        close_all(fds, n_fds);
        struct rusage usage;
        while (wait4(pid, &status, 0, &usage) < 0)
            if (errno != EINTR) _exit(1);
        kill_leftovers();
        struct ended ended = { TAG_ENDED, status, seconds(usage.ru_utime),
                               seconds(usage.ru_stime), (uint64_t)usage.ru_maxrss * 1024 };
        send(feed, &ended, sizeof ended, MSG_NOSIGNAL);
    }
}
