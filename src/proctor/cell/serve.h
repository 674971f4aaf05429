/* The loops that fork: the agent's over jobs, a serving job's over tests. Included by lockdown.c.
 *
 * In C, because the fork write-protects the parent's pages too: a parent that returned to Python
 * would pay over a hundred page faults per job just to go round its loop. Each function returns to
 * Python in the child only. The structs mirror wire.py, which explains them.
 */

struct __attribute__((packed)) request {
    uint8_t kind, locks, loopback;
    uint64_t cpu, address_space, file_size, processes, stack, disk, shm;
    int32_t only_cpu;
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
_Static_assert(sizeof(struct request) == 127 && sizeof(struct result) == 44
               && sizeof(struct ended) == 29, "differs from wire.py");

enum { KIND_RUN = 0, KIND_OFFICIAL = 3, KIND_COMMAND = 5, KIND_EXECUTE = 6, TAG_ENDED = 3, MOST_FDS = 3 + MAX_KEPT };

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Receives a message and its descriptors. Returns its length, 0 if the other side is gone, or -1. */
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

PyDoc_STRVAR(send_doc,
"send(fd, data, fds) -> int\n\nSends one message with descriptors, without waiting. Returns the monotonic\n"
"nanoseconds of the moment before: after it, another thread may hold the interpreter for long. Raises\n"
"OSError.");

static PyObject *send_message(PyObject *self, PyObject *args)
{
    (void)self;
    int fd;
    const char *data;
    Py_ssize_t size;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "iy#O", &fd, &data, &size, &list)) return NULL;
    char control[CMSG_SPACE(sizeof(int) * MOST_FDS)] = { 0 };
    struct iovec part = { (void *)(uintptr_t)data, (size_t)size };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    Py_ssize_t n = PySequence_Size(list);
    if (n > MOST_FDS) PyErr_SetString(PyExc_ValueError, "too many descriptors");
    if (n < 0 || n > MOST_FDS) return NULL;
    if (n) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n);
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *one = PySequence_GetItem(list, i);
            int value = one ? (int)PyLong_AsLong(one) : -1;
            Py_XDECREF(one);
            if (PyErr_Occurred()) return NULL;
            memcpy(CMSG_DATA(rights) + (size_t)i * sizeof value, &value, sizeof value);
        }
    }
    uint64_t before;
    ssize_t sent;
    Py_BEGIN_ALLOW_THREADS
    before = now_ns();
    sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    Py_END_ALLOW_THREADS
    return sent < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromUnsignedLongLong(before);
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++) close(fds[i]);
}

/* CPU seconds used by processes that are gone. */
struct used { double user, system; };

static pid_t reap(pid_t which, int flags, int *status, struct used *used, struct rusage *usage)
{
    pid_t pid = wait4(which, status, flags | __WALL, usage);
    if (pid > 0) {
        used->user += seconds(usage->ru_utime);
        used->system += seconds(usage->ru_stime);
    }
    return pid;
}

/* Kills all processes of the job (see FEATURE_SWEEP). Jobs of another user we can only signal as that
 * user: we become it for a moment, and keep our real and saved user, so that they never can signal us. */
static void kill_all(void)
{
    /* By system calls: libc's setresuid would change all threads, and abort if one may not change. A
     * preloaded module may have started threads (jemalloc, along with pandas), without our capabilities. */
    if (cell.features & FEATURE_UID) syscall(SYS_setresuid, -1, cell.uid, -1);
    kill(-1, SIGKILL);
    if (cell.features & FEATURE_UID) syscall(SYS_setresuid, -1, cell.own_uid, -1);
}

/* Kills and reaps all processes of the job, however fast they multiply: the kernel lets no fork slip
 * past a pending SIGKILL. Orphans come to us, so when we have no children left nothing is left. */
static void sweep(struct used *used)
{
    struct rusage usage;
    do kill_all();
    while (reap(-1, 0, NULL, used, &usage) > 0 || errno == EINTR);
}

/* What is left when the first process of a job or test has ended has this time to end by itself: what
 * it still writes then counts, what would come later does not. Killed at once, it would write or not
 * as the scheduler likes. The same is in native_job.py and fallback.py. */
static const uint64_t GRACE = 200000000; /* ns */

/* Waits for what is left, with all signals blocked; `pid` is gone. Returns 1 if the stub has ended with
 * the last of it. At level none orphans do not come to us: there its process group is looked at. */
static int let_finish(pid_t pid, pid_t stub, struct used *used)
{
    int adopts = cell.features & (FEATURE_PIDNS | FEATURE_SWEEP);
    struct rusage usage;
    sigset_t child_ended;
    uint64_t until = now_ns() + GRACE;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    if (stub) {
        cell.progress->finishing = 1;
        kill(stub, SIGCHLD);
    }
    for (;;) {
        pid_t ended = adopts ? reap(-1, WNOHANG, NULL, used, &usage) : killpg(pid, 0);
        if (stub && ended == stub) return 1;
        if (ended > 0) continue;
        uint64_t now = now_ns();
        if (ended < 0 || now >= until) return 0;
        struct timespec left = { 0, adopts ? (long)(until - now) : 2000000 };
        sigtimedwait(&child_ended, NULL, &left);
    }
}

/* Ends a job: kills its namespace if it has one, else all that we may signal (see FEATURE_SWEEP), else
 * its process group (which it may not have yet). */
static void end_job(pid_t pid, pid_t stub)
{
    if (stub) {
        /* All processes at once: among many that want a CPU the stub waits long for its turn. As
         * process 1 we reach what is in our box and no more. */
        if (getpid() == 1) kill(-1, SIGKILL);
        kill(stub, SIGKILL);
    } else if (cell.features & FEATURE_SWEEP) {
        kill_all();
    } else if (killpg(pid, SIGKILL)) {
        kill(pid, SIGKILL);
    }
}

/* Waits until a job ends, or the host says to end it; leaves nothing of it alive. Meanwhile answers
 * the job's socket(), with sockets only if the job may have them. */
static void supervise(int control, pid_t pid, pid_t stub, uint64_t started, int may_have_sockets)
{
    int pidfd = (int)syscall(NR_pidfd_open, pid, 0);
    struct pollfd watched[3] = { { pidfd, POLLIN, 0 }, { control, POLLIN, 0 },
                                 { cell.listener, POLLIN, 0 } };
    int pause = -1, told = 0, finished;
    pid_t broker = 0;
    if (pidfd < 0 && errno == ENOSYS) { /* gVisor has no pidfd_open: look again and again */
        pause = 1;
    } else if (pidfd < 0) { /* out of descriptors or memory: a job we cannot watch must not run */
        end_job(pid, stub);
        watched[0].revents = POLLIN;
    }
    while (!watched[0].revents) {
        char word;
        if (poll(watched, 3, pause) < 0 && errno != EINTR) _exit(1);
        siginfo_t ended = { 0 };
        if (pause > 0 && !waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT)
            && ended.si_pid == pid)
            watched[0].revents = POLLIN;
        if (watched[2].revents & POLLIN && (broker = answer_socket(control, may_have_sockets)))
            watched[2].fd = -1;
        if (!watched[1].revents || watched[0].revents) continue;
        ssize_t size = recv(control, &word, 1, 0);
        end_job(pid, stub);
        told = 1;
        if (size != 1) { /* the host is gone; a box dies with us, without a box we clean up */
            struct used used = { 0 };
            if (cell.features & FEATURE_SWEEP) sweep(&used);
            _exit(0);
        }
    }
    struct rusage usage, of_others;
    struct used used = { 0 };
    int status;
    struct result result = { .wall = now_ns() - started };
    if (pidfd >= 0) close(pidfd);
    if (broker) {
        kill(broker, SIGKILL);
        reap(broker, 0, &status, &used, &usage);
    }
    reap(pid, 0, &status, &used, &usage);
    finished = !told && let_finish(pid, stub, &used);
    if (stub && !finished) {
        kill(stub, SIGKILL);
        /* Whatever else became our child must be reaped too, or the namespace never ends. */
        while (reap(-1, 0, NULL, &used, &of_others) != stub) {}
    } else if (!stub && cell.features & FEATURE_SWEEP) {
        sweep(&used);
    } else if (!stub) {
        killpg(pid, SIGKILL);
    }
    result.status = status;
    result.user = used.user;
    result.system = used.system;
    result.peak = (uint64_t)usage.ru_maxrss * 1024;
    if (cell.progress->step != STEP_DONE) {
        result.step = cell.progress->step;
        result.error = cell.progress->error;
    }
    send(control, &result, sizeof result, MSG_NOSIGNAL);
}

#include "execute.h"

/* Makes the next process of the cell get the number it would have in a new cell: numbers show in
 * /proc, and how far they have come would reveal the jobs before. Needs CAP_SYS_ADMIN over the
 * cell's PID namespace, and a kernel that can restore processes. */
static void count_pids_anew(void)
{
    if (cell.last_pid >= 0 && pwrite(cell.last_pid, "1", 1, 0) != 1) cell.last_pid = -1;
}

/* Forks and locks down one job. Returns its pid, 0 in the child, -1 on failure. */
static pid_t spawn(const struct request *request, const int *fds, int n_fds, const sigset_t *mask,
                   pid_t *stub)
{
    struct job job = { .cpu = request->cpu, .address_space = request->address_space,
                       .file_size = request->file_size, .processes = request->processes,
                       .stack = request->stack, .disk = request->disk, .shm = request->shm,
                       .locks = request->locks, .only_cpu = request->only_cpu };
    /* Tests bring streams of their own. */
    int streams = request->kind == KIND_RUN || request->kind >= KIND_COMMAND ? 3 : 0;
    for (int i = 0; i < streams; i++) job.streams[i] = fds[i];
    for (int i = streams; i < n_fds && job.n_kept < MAX_KEPT - 1; i++) job.kept[job.n_kept++] = fds[i];
    int wide = request->loopback || (job.disk && cell.features & FEATURE_SCRATCH);
    if (cell.features & FEATURE_LANDLOCK)
        job.kept[job.n_kept++] = wide ? cell.wide_ruleset : cell.ruleset;
    cell.progress->step = STEP_NONE;
    cell.progress->error = cell.progress->finishing = 0;
    if (request->kind == KIND_EXECUTE) {
        if (n_fds > 3 && !read_words(fds[3])) return spawn_program(&job, mask, stub);
        errno = EINVAL;
        return -1;
    }
    pid_t pid = cell.features & FEATURE_PIDNS ? fork_behind_stub(stub) : fork();
    if (pid == 0) {
        /* Opened anew for each job: locks and flags stay with an open file, and the next job would
         * find there what this one has left. */
        for (int i = streams; i < 3; i++) job.streams[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
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
"serve(control_fd, get_ready) -> (kind, function)\n\n"
"The agent's loop. Returns in a locked-down job, with its descriptors in place. `get_ready(kind,\n"
"has_function)` is called before the first job of each sort, and whenever the kind changes to or from\n"
"official. Raises OSError if a fork fails.");

static PyObject *serve(PyObject *self, PyObject *args)
{
    (void)self;
    int control, official = 0;
    uint64_t ready = 0;
    PyObject *get_ready;
    if (!PyArg_ParseTuple(args, "iO", &control, &get_ready)) return NULL;
    /* Where jobs can signal us, no handler of Python's shall run here. */
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    for (;;) {
        struct request request;
        int fds[MOST_FDS], n_fds;
        ssize_t size = receive(control, &request, sizeof request, fds, &n_fds);
        if (size <= 0) _exit(0);
        if (size != sizeof request) continue; /* KILL, sent while the job ended by itself */
        uint64_t started = now_ns();
        int called = request.function[0] != 0;
        uint64_t sort = 1ull << (request.kind % 32 * 2 + called);
        /* Called seldom: past jobs share our pages, so Python code costs us a page fault for each. */
        if (!(ready & sort) || (request.kind == KIND_OFFICIAL) != official) {
            PyObject *done = PyObject_CallFunction(get_ready, "ii", request.kind, called);
            if (!done) return NULL;
            Py_DECREF(done);
            ready |= sort;
            official = request.kind == KIND_OFFICIAL;
        }
        count_pids_anew();
        pid_t stub = 0, pid = spawn(&request, fds, n_fds, &old, &stub);
        if (pid < 0) return PyErr_SetFromErrno(PyExc_OSError);
        if (pid == 0) sigprocmask(SIG_SETMASK, &old, NULL);
        if (pid == 0)
            return Py_BuildValue("iy#", request.kind, request.function,
                                 (Py_ssize_t)strnlen(request.function, sizeof request.function));
        close_all(fds, n_fds);
        supervise(control, pid, stub, started, request.loopback);
    }
}

/* Ends whatever a test left running, so that it cannot meet the next one. In a PID namespace -1
 * means everything but ourselves and the init; without one, see FEATURE_SWEEP. What kill returns says
 * nothing: it is 0 even if we may signal no process. But orphans come to us, so reap() tells the end. */
static void kill_leftovers(struct used *used)
{
    struct rusage usage;
    if (!(cell.features & (FEATURE_PIDNS | FEATURE_SWEEP))) return;
    do kill(-1, SIGKILL);
    while (reap(-1, 0, NULL, used, &usage) > 0 || errno == EINTR);
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
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* the CPU time of their orphans counts as theirs */
    /* Nor may they signal it: Python's handlers would leave a mark that all later tests inherit. */
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
            setpgid(0, 0);
            if (place_descriptors(&job)) _exit(1);
            Py_RETURN_NONE;
        }
        close_all(fds, n_fds);
        struct rusage usage;
        struct used used = { 0 };
        pid_t ended_pid;
        do ended_pid = reap(-1, 0, &status, &used, &usage); /* orphans first, as they come */
        while (ended_pid != pid && (ended_pid > 0 || errno == EINTR));
        if (ended_pid != pid) _exit(1);
        let_finish(pid, 0, &used);
        kill_leftovers(&used);
        struct ended ended = { TAG_ENDED, status, used.user, used.system,
                               (uint64_t)usage.ru_maxrss * 1024 };
        send(feed, &ended, sizeof ended, MSG_NOSIGNAL);
    }
}
