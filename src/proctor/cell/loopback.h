/* Sockets of jobs that ask for a loopback interface of their own. Included once, by lockdown.c.
 *
 * A network namespace costs half a millisecond, and most of the programs that may have one open no
 * socket. So their socket() waits for the agent, which forks a broker at a job's first call: the
 * broker makes the namespace, opens sockets in it and hands them over until the job has ended.
 *
 * Agent and broker are under the job's filter. It lets callers pass that give the key, in those halves
 * of the arguments that the kernel leaves unread. No job has the key: it is in a file that no job
 * inherits, and the processes that read it do so after the job's fork, and never fork.
 */
#include <linux/if.h>
#include <netinet/in.h>

/* Own names, since build machines have older headers than hosts. */
struct notif { uint64_t id; uint32_t pid, flags; struct seccomp_data data; };
struct notif_answer { uint64_t id; int64_t value; int32_t error; uint32_t flags; };
struct notif_addfd { uint64_t id; uint32_t flags, fd, newfd, newfd_flags; };
#define NOTIF_RECEIVE _IOWR('!', 0, struct notif)
#define NOTIF_ANSWER _IOWR('!', 1, struct notif_answer)
#define NOTIF_ADDFD _IOW('!', 3, struct notif_addfd)
enum { ADDFD_AND_SEND = 2 };

struct key { uint32_t parts[3]; };

static int open_socket(const struct key *key, uint64_t domain, uint64_t type, uint64_t protocol)
{
    return (int)syscall(SYS_socket, (uint64_t)key->parts[0] << 32 | (uint32_t)domain,
                        (uint64_t)key->parts[1] << 32 | (uint32_t)type,
                        (uint64_t)key->parts[2] << 32 | (uint32_t)protocol);
}

/* Once given a size, a socket's buffers no longer grow with use to megabytes, of which the machine has
 * few for all its sockets. Accepted sockets take over the size from the listening one. */
static void set_buffer(const struct key *key, int fd, int which)
{
    int bytes = 65536;
    syscall(SYS_setsockopt, (uint64_t)key->parts[0] << 32 | (uint32_t)fd,
            (uint64_t)key->parts[1] << 32 | SOL_SOCKET, (uint64_t)key->parts[2] << 32 | (uint32_t)which,
            &bytes, sizeof bytes);
}

/* Enters a network namespace with nothing but a loopback interface. */
static int enter_own_network(const struct key *key)
{
    struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP };
    int fd = unshare(CLONE_NEWNET) ? -1 : open_socket(key, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int bad = ioctl(fd, SIOCSIFFLAGS, &loopback);
    int error = errno;
    close(fd);
    errno = error;
    return bad;
}

/* The broker has capabilities that jobs lack: with them it must open nothing but plain TCP and UDP. */
static int is_plain(const uint64_t *args)
{
    uint32_t type = (uint32_t)args[1] & ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);
    uint32_t protocol = (uint32_t)args[2];
    return (type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP))
        || (type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP));
}

static void refuse_socket(uint64_t id, int error)
{
    struct notif_answer answer = { .id = id, .error = -error };
    ioctl(cell.listener, NOTIF_ANSWER, &answer); /* fails if the caller is gone */
}

static void hand_over_socket(const struct key *key, const struct notif *asked)
{
    const uint64_t args[] = { asked->data.args[0], asked->data.args[1], asked->data.args[2] };
    if (!is_plain(args)) {
        refuse_socket(asked->id, EPROTONOSUPPORT);
        return;
    }
    int fd = open_socket(key, args[0], args[1] | SOCK_CLOEXEC, args[2]);
    struct notif_addfd handed = { asked->id, ADDFD_AND_SEND, (uint32_t)fd, 0,
                                  (uint32_t)args[1] & SOCK_CLOEXEC };
    if (fd < 0) {
        refuse_socket(asked->id, errno);
        return;
    }
    set_buffer(key, fd, SO_SNDBUF);
    set_buffer(key, fd, SO_RCVBUF);
    if (ioctl(cell.listener, NOTIF_ADDFD, &handed) < 0) refuse_socket(asked->id, errno);
    close(fd);
}

static void broker(struct notif asked)
{
    struct key key;
    int bad = pread(cell.key, &key, sizeof key, 0) != sizeof key || enter_own_network(&key);
    if (bad) bad = errno;
    for (;;) {
        if (bad) refuse_socket(asked.id, bad);
        else hand_over_socket(&key, &asked);
        do memset(&asked, 0, sizeof asked);
        while (ioctl(cell.listener, NOTIF_RECEIVE, &asked)
               && (errno == EINTR || errno == ENOENT)); /* the caller was killed meanwhile */
        if (!asked.id) _exit(1);
    }
}

/* Answers a job's socket(). Returns the broker that answers from now on, or 0 if there is none. */
static pid_t answer_socket(int control, int may_have)
{
    struct notif asked = { 0 };
    if (ioctl(cell.listener, NOTIF_RECEIVE, &asked)) return 0;
    pid_t pid = may_have ? fork() : -1;
    if (pid == 0) {
        close(control);
        broker(asked);
    }
    if (pid > 0) return pid;
    refuse_socket(asked.id, may_have ? errno : EAFNOSUPPORT);
    return 0;
}

PyDoc_STRVAR(may_loop_back_doc,
"may_loop_back() -> bool\n\nWhether this process may make network namespaces and use them.");

static PyObject *may_loop_back(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    static const struct key no_key;
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) _exit(enter_own_network(&no_key) ? 1 : 0);
    if (pid < 0) return PyErr_SetFromErrno(PyExc_OSError);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return PyBool_FromLong(status == 0);
}
