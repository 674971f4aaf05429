/* The loop of a session's first process, which forks its programs. Included by lockdown.c.
 *
 * Unlike a serving job it goes on while they run, and leaves alone what they leave running. The
 * structs mirror wire.py, which explains them.
 */
#include <sys/signalfd.h>

struct __attribute__((packed)) order { uint8_t what; uint32_t id; };
struct __attribute__((packed)) started { uint8_t tag; uint32_t id; };
struct __attribute__((packed)) finished {
    uint8_t tag;
    uint32_t id;
    int32_t status; /* with TAG_REFUSED: the error number */
    double user, system;
    uint64_t peak;
};
_Static_assert(sizeof(struct order) == 5 && sizeof(struct finished) == 33, "differs from wire.py");

enum { ORDER_RUN = 'R', ORDER_KILL = 'K', ORDER_INTERRUPT = 'I' };
enum { TAG_STARTED = 6, TAG_FINISHED = 7, TAG_REFUSED = 8, TAG_INTERRUPTED = 9 };
enum { MOST_PROGRAMS = 256 };

struct running { pid_t pid; uint32_t id; };

static void report(int feed, uint8_t tag, uint32_t id, int status, const struct rusage *usage)
{
    struct finished message = { tag, id, status, seconds(usage->ru_utime), seconds(usage->ru_stime),
                                (uint64_t)usage->ru_maxrss * 1024 };
    send(feed, &message, sizeof message, MSG_NOSIGNAL);
}

/* Reports the programs that have ended; other children are orphans they left. */
static void reap_programs(int feed, struct running *running, int *n)
{
    struct rusage usage;
    int status;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0;)
        for (int i = 0; i < *n; i++)
            if (running[i].pid == pid) {
                report(feed, TAG_FINISHED, running[i].id, status, &usage);
                running[i] = running[--*n];
                break;
            }
}

/* Becomes the process of one program, with its streams on 0-2 and its source on 3. */
static int become_program(int feed, uint32_t id, const int *fds)
{
    struct job job = { .kept = { fds[3] }, .n_kept = 1 };
    memcpy(job.streams, fds, sizeof job.streams);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    /* Orphans that it leaves stay below it while it lives: the host can then kill all of them. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    setsid();
    /* Sent by the program's own process: the host reads its pid from the credentials. */
    struct started message = { TAG_STARTED, id };
    if (send(feed, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) return -1;
    return place_descriptors(&job);
}

PyDoc_STRVAR(serve_session_doc,
"serve_session(feed_fd)\n\n"
"A session's loop: forks one process per program. Returns in the program's process only, with its\n"
"streams on 0-2 and its source on 3.");

static PyObject *serve_session(PyObject *self, PyObject *args)
{
    (void)self;
    int feed, n = 0;
    struct running running[MOST_PROGRAMS];
    struct rusage none = { 0 };
    if (!PyArg_ParseTuple(args, "i", &feed)) return NULL;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigset_t all, old, child_ended;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    struct pollfd watched[2] = { { feed, POLLIN, 0 },
                                 { signalfd(-1, &child_ended, SFD_CLOEXEC), POLLIN, 0 } };
    if (watched[1].fd < 0) _exit(1);
    for (;;) {
        struct order order;
        int fds[MOST_FDS], n_fds;
        if (poll(watched, 2, -1) < 0 && errno != EINTR) _exit(1);
        if (watched[1].revents) {
            struct signalfd_siginfo info;
            if (read(watched[1].fd, &info, sizeof info) < 0) _exit(1);
            reap_programs(feed, running, &n);
        }
        if (!watched[0].revents) continue;
        if (receive(feed, &order, sizeof order, fds, &n_fds) != sizeof order) _exit(0);
        if (order.what == ORDER_KILL || order.what == ORDER_INTERRUPT) {
            int number = order.what == ORDER_KILL ? SIGKILL : SIGINT;
            for (int i = 0; i < n; i++)
                if (running[i].id == order.id && killpg(running[i].pid, number))
                    kill(running[i].pid, number); /* it has no group of its own yet */
            /* So that the host knows that the signal will not come later. */
            if (number == SIGINT) report(feed, TAG_INTERRUPTED, order.id, 0, &none);
        } else if (n_fds != 4 || n == MOST_PROGRAMS) {
            report(feed, TAG_REFUSED, order.id, EAGAIN, &none);
        } else {
            pid_t pid = fork();
            if (pid == 0) {
                sigprocmask(SIG_SETMASK, &old, NULL);
                if (become_program(feed, order.id, fds)) _exit(1);
                Py_RETURN_NONE;
            }
            if (pid < 0) report(feed, TAG_REFUSED, order.id, errno, &none);
            else running[n++] = (struct running){ pid, order.id };
        }
        close_all(fds, n_fds);
    }
}
