/* Spawning a job and locking it down: the part of a cell that cannot be Python.
 *
 * Nothing may run between the fork and the lock-down, and first use of ctypes in a fresh child
 * costs more (0.28 ms of page faults) than the whole lock-down does. So: one file, limited API.
 *
 * Order matters (each line breaks if moved):
 *   mounts before Landlock        a Landlock domain may not mount
 *   dumpable before oom_score_adj /proc/self of an undumpable process belongs to root
 *   uids before capset            changing them takes a capability
 *   all before a single byte of the submission is read
 * seccomp is installed once in the agent and inherited: loading it per job costs 0.1 ms. Jobs
 * load a few instructions more, unless they may have locks (0.05 ms).
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "proctor's cells know the system calls of x86-64 and aarch64 only"
#endif

#include "calls.h"

enum {
    FEATURE_PIDNS = 1,
    FEATURE_IPCNS = 2,
    FEATURE_LANDLOCK = 4,
    FEATURE_CAPS = 8,
    FEATURE_OOM = 16,
    /* Without a PID namespace per job: all processes that we may signal are the job's, so killing
     * them ends it. Whoever sets this has proved that (see keeper.py). */
    FEATURE_SWEEP = 32,
    FEATURE_UID = 64, /* jobs have a user of their own, which is not the agent's */
    FEATURE_SCRATCH = 128, /* disk is a directory of the host, not a file system of the job */
};

enum { STACK_SIZE = 16384, CHILD_STACK_SIZE = 65536, MAX_KEPT = 40 };

/* How far a child came, on a page it shares with the agent and unmaps before any foreign code
 * runs: a lock-down that fails must not look like an exit code of the submission. */
struct progress {
    int step, error;
    volatile int finishing; /* for the stub, which has the page, too: its first process has ended */
};
enum { STEP_NONE, STEP_NAMESPACES, STEP_OOM, STEP_DESCRIPTORS, STEP_DISK, STEP_RLIMITS,
       STEP_LANDLOCK, STEP_UID, STEP_CAPS, STEP_FILTER, STEP_SHM, STEP_DONE };

static struct {
    int features, ruleset, own_pidns;
    int wide_ruleset; /* for jobs with a directory of the host, or sockets */
    int proc; /* the host's /proc, where the box has none */
    int last_pid; /* the host's /proc/sys/kernel/ns_last_pid, for writing */
    uid_t uid, own_uid; /* of the jobs, and of the agent */
    char work[256];
    char *stub_stack, *child_stack;
    volatile struct progress *progress;
    int at_home; /* true if the agent stays on one CPU of `cpus` */
    cpu_set_t cpus;
    int listener, key; /* for jobs' sockets, see loopback.h; -1 if there are none */
    /* A further filter for jobs without locks, with no /dev/shm and with one; empty if unfiltered. */
    struct sock_fprog lockless[2];
} cell = { .ruleset = -1, .own_pidns = -1, .wide_ruleset = -1, .proc = -1, .last_pid = -1,
           .listener = -1, .key = -1 };

struct job {
    uint64_t cpu, address_space, file_size, processes, stack, disk, shm;
    int only_cpu; /* -1: all CPUs that the agent was started with */
    int streams[3], kept[MAX_KEPT], n_kept, locks;
};

static int soft_limit(int resource, uint64_t value)
{
    struct rlimit r;
    if (getrlimit(resource, &r)) return -1;
    r.rlim_cur = value < r.rlim_max ? value : r.rlim_max; /* the host may allow less than we ask for */
    return setrlimit(resource, &r);
}

static int limit(int resource, uint64_t value)
{
    struct rlimit r;
    if (getrlimit(resource, &r)) return -1;
    if (value > r.rlim_max) value = r.rlim_max;
    r.rlim_cur = r.rlim_max = value;
    return setrlimit(resource, &r);
}

/* Puts the three streams on 0-2 and the kept descriptors on 3, 4, ...; closes all others. */
static int place_descriptors(const struct job *job)
{
    int fds[3 + MAX_KEPT], n = 3 + job->n_kept;
    for (int i = 0; i < n; i++) {
        /* First copied above all targets, so that no dup2 below overwrites a source. */
        fds[i] = fcntl(i < 3 ? job->streams[i] : job->kept[i - 3], F_DUPFD_CLOEXEC, 3 + MAX_KEPT);
        if (fds[i] < 0) return -1;
    }
    for (int i = 0; i < n; i++)
        if (dup2(fds[i], i) < 0) return -1;
    return (int)syscall(NR_close_range, (unsigned)n, INT_MAX, 0); /* gVisor takes no higher end */
}

static int mount_disk(uint64_t bytes)
{
    char options[128];
    int n = snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=700",
                     (unsigned long long)bytes, (unsigned long long)(bytes / 4096 + 64));
    if (cell.features & FEATURE_UID)
        snprintf(options + n, sizeof options - (size_t)n, ",uid=%u,gid=%u", cell.uid, cell.uid);
    return mount("proctor", cell.work, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

/* /dev/shm leads to a directory in this file system, not to its root: where it is not mounted, there
 * is no such directory. */
static int mount_shm(uint64_t bytes)
{
    char options[128];
    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=755",
             (unsigned long long)bytes, (unsigned long long)(bytes / 4096 + 64));
    if (mount("proctor", "/box/ipc", "tmpfs", MS_NOSUID | MS_NODEV, options)) return -1;
    return mkdir("/box/ipc/shm", 0700) || chmod("/box/ipc/shm", 01777) ? -1 : 0;
}

static int set_limits(const struct job *job)
{
    if (limit(RLIMIT_CPU, job->cpu) || limit(RLIMIT_FSIZE, job->file_size)
        || limit(RLIMIT_NOFILE, 256) || limit(RLIMIT_MEMLOCK, 0)
        /* 1, not 0, which a core_pattern that pipes to a program ignores (core(5)). */
        || (limit(RLIMIT_CORE, 1) && limit(RLIMIT_CORE, 0))
        /* Linux lets everybody lower a limit; gVisor has no queues or signals to bound and refuses. */
        || (limit(RLIMIT_MSGQUEUE, 0) && errno != EPERM)
        || (limit(RLIMIT_SIGPENDING, 1024) && errno != EPERM)
        /* Programs may raise this, as elsewhere: the memory limit bounds them. */
        || soft_limit(RLIMIT_STACK, job->stack)
        || limit(RLIMIT_NPROC, job->processes))
        return -1;
    return job->address_space ? limit(RLIMIT_AS, job->address_space) : 0;
}

static int write_oom_score(void)
{
    int fd = cell.proc >= 0 ? openat(cell.proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC)
                            : open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int bad = write(fd, "1000", 4) != 4;
    close(fd);
    return bad ? -1 : 0;
}

static int change_user(void)
{
    gid_t gid = (gid_t)cell.uid;
    if (setresgid(gid, gid, gid) || setresuid(cell.uid, cell.uid, cell.uid)) return -1;
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* a change of user has cleared it */
}

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    return (int)syscall(SYS_capset, &header, none);
}

/* A matter of speed only: what the kernel refuses stays as it is. */
static void choose_cpus(int only)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    if (only >= 0 && only < CPU_SETSIZE) {
        CPU_SET(only, &one);
        sched_setaffinity(0, sizeof one, &one);
    } else if (cell.at_home) {
        sched_setaffinity(0, sizeof cell.cpus, &cell.cpus);
    }
}

#define STEP(name, call) do { cell.progress->step = (name); if (call) return -1; } while (0)

static int lock_down(const struct job *job)
{
    int f = cell.features, namespaces = 0;
    if (f & FEATURE_IPCNS) namespaces |= CLONE_NEWIPC;
    int scratch = job->disk && (f & FEATURE_SCRATCH);
    if ((job->disk && !scratch) || job->shm) namespaces |= CLONE_NEWNS;
    if (namespaces) STEP(STEP_NAMESPACES, unshare(namespaces));
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (f & FEATURE_OOM) STEP(STEP_OOM, write_oom_score());
    setpgid(0, 0); /* not setsid: a session would get a share of the CPU for itself */
    choose_cpus(job->only_cpu);
    STEP(STEP_DESCRIPTORS, place_descriptors(job));
    if (job->disk && !scratch) STEP(STEP_DISK, mount_disk(job->disk));
    if (job->shm) STEP(STEP_SHM, mount_shm(job->shm));
    STEP(STEP_RLIMITS, set_limits(job));
    if (f & FEATURE_LANDLOCK) {
        /* The ruleset's own descriptor is closed by now: restrict through the saved copy. */
        STEP(STEP_LANDLOCK, (int)syscall(NR_landlock_restrict_self, 3 + job->n_kept - 1, 0));
        close(3 + job->n_kept - 1);
    }
    if (f & FEATURE_UID) STEP(STEP_UID, change_user());
    if (job->disk) STEP(STEP_DISK, chdir(cell.work)); /* only the job's user may enter it */
    if (f & FEATURE_CAPS) STEP(STEP_CAPS, drop_capabilities());
    if (!job->locks && cell.lockless[job->shm > 0].len)
        STEP(STEP_FILTER, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &cell.lockless[job->shm > 0]));
    cell.progress->step = STEP_DONE;
    return 0;
}

#include "stub.h"

/* Asks for short turns on the CPU, which the kernel gives sooner (Linux 6.12). A fork bomb whose
 * processes are in sessions of their own has a full share of the CPU for each, and the order to end
 * it would wait until most of them have had a turn. Jobs do not inherit this setting. */
static void ask_for_short_turns(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } scheduling = { 0 };
    if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0)) return;
    if (scheduling.policy != SCHED_OTHER || scheduling.nice < 0) return; /* jobs are to inherit these */
    scheduling.flags = 1; /* SCHED_FLAG_RESET_ON_FORK */
    scheduling.runtime = 100000; /* ns, the least there is */
    syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

PyDoc_STRVAR(configure_doc,
"configure(features, ruleset_fd, wide_ruleset_fd, pidfd_of_agent, proc_fd, last_pid_fd,\n"
"uid_of_jobs, work_dir)\n\n"
"Once per agent, before any spawn.");

static PyObject *configure(PyObject *self, PyObject *args)
{
    (void)self;
    const char *work;
    if (!PyArg_ParseTuple(args, "iiiiiiIs", &cell.features, &cell.ruleset, &cell.wide_ruleset,
                          &cell.own_pidns, &cell.proc, &cell.last_pid, &cell.uid, &work))
        return NULL;
    cell.own_uid = getuid();
    ask_for_short_turns();
    if (strlen(work) >= sizeof cell.work) {
        PyErr_SetString(PyExc_ValueError, "work directory name too long");
        return NULL;
    }
    strcpy(cell.work, work);
    void *page = mmap(NULL, sizeof *cell.progress, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (page == MAP_FAILED || stack == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
    cell.progress = page;
    cell.stub_stack = stack;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(stay_on_doc,
"stay_on(cpu)\n\nKeeps this process on one CPU, and no job. Raises OSError.");

static PyObject *stay_on(PyObject *self, PyObject *args)
{
    (void)self;
    int cpu;
    cpu_set_t one;
    if (!PyArg_ParseTuple(args, "i", &cpu)) return NULL;
    CPU_ZERO(&one);
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &one);
    if (sched_getaffinity(0, sizeof cell.cpus, &cell.cpus) || sched_setaffinity(0, sizeof one, &one))
        return PyErr_SetFromErrno(PyExc_OSError);
    cell.at_home = 1;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(drop_bounding_doc,
"drop_bounding()\n\nEmpties the capability bounding set: no execve will ever gain one again.");

static PyObject *drop_bounding(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)) return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(may_unshare_doc,
"may_unshare() -> bool\n\nWhether this process may make the namespaces that jobs are put into.");

static PyObject *may_unshare(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) _exit(unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS) ? 1 : 0);
    if (pid < 0) return PyErr_SetFromErrno(PyExc_OSError);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return PyBool_FromLong(status == 0);
}

PyDoc_STRVAR(mount_proc_doc,
"mount_proc()\n\nMounts a /proc that shows a process nothing but itself and its children.");

static PyObject *mount_proc(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "hidepid=ptraceable,subset=pid"))
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(keep_times_doc,
"keep_times(path)\n\nMakes a device's mount read-only: it can be written to as before, but its times,\n"
"which anybody who may write may set, are no note from one job to the next or to the host.");

static PyObject *keep_times(PyObject *self, PyObject *args)
{
    (void)self;
    const char *path;
    struct statvfs now;
    if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
    if (statvfs(path, &now)) return PyErr_SetFromErrno(PyExc_OSError);
    /* Flags that the mount already has must stay, or the kernel refuses. */
    unsigned long flags = now.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME);
    if (now.f_flag & ST_RELATIME) flags |= MS_RELATIME;
    if (mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL))
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(adopt_orphans_doc,
"adopt_orphans()\n\nMakes every orphan below this process its child.");

static PyObject *adopt_orphans(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(keep_capabilities_doc,
"keep_capabilities(mask)\n\nGives up all capabilities but these (of the first 32), in this process\n"
"and in what it executes, whatever user it becomes.");

static PyObject *keep_capabilities(PyObject *self, PyObject *args)
{
    (void)self;
    unsigned mask;
    if (!PyArg_ParseTuple(args, "I", &mask)) return NULL;
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct kept[2] = { { mask, mask, 0 }, { 0, 0, 0 } };
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || syscall(SYS_capset, &header, kept))
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

#include "landlock.h"
#include "loopback.h"
#include "seccomp.h"
#include "serve.h"
#include "session.h"
#include "memory.h"

static PyMethodDef methods[] = {
    { "send", send_message, METH_VARARGS, send_doc },
    { "serve", serve, METH_VARARGS, serve_doc },
    { "serve_tests", serve_tests, METH_VARARGS, serve_tests_doc },
    { "serve_session", serve_session, METH_VARARGS, serve_session_doc },
    { "configure", configure, METH_VARARGS, configure_doc },
    { "protect", protect, METH_VARARGS, protect_doc },
    { "interpreter_code", interpreter_code, METH_NOARGS, interpreter_code_doc },
    { "use_huge_page", use_huge_page, METH_VARARGS, use_huge_page_doc },
    { "pages_written", pages_written, METH_VARARGS, pages_written_doc },
    { "pin", pin, METH_VARARGS, pin_doc },
    { "stay_on", stay_on, METH_VARARGS, stay_on_doc },
    { "drop_bounding", drop_bounding, METH_NOARGS, drop_bounding_doc },
    { "keep_times", keep_times, METH_VARARGS, keep_times_doc },
    { "mount_proc", mount_proc, METH_NOARGS, mount_proc_doc },
    { "may_unshare", may_unshare, METH_NOARGS, may_unshare_doc },
    { "may_loop_back", may_loop_back, METH_NOARGS, may_loop_back_doc },
    { "adopt_orphans", adopt_orphans, METH_NOARGS, adopt_orphans_doc },
    { "keep_capabilities", keep_capabilities, METH_VARARGS, keep_capabilities_doc },
    { "landlock_abi", landlock_abi, METH_NOARGS, landlock_abi_doc },
    { "landlock_ruleset", landlock_ruleset, METH_VARARGS, landlock_ruleset_doc },
    { "landlock_scope", landlock_scope, METH_NOARGS, landlock_scope_doc },
    { "install_seccomp", install_seccomp, METH_VARARGS, install_seccomp_doc },
    { NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_lockdown", "Spawn and lock-down of jobs; see lockdown.c.", -1,
    methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__lockdown(void)
{
    PyObject *m = PyModule_Create(&module);
    if (!m) return NULL;
    PyModule_AddIntConstant(m, "FEATURE_PIDNS", FEATURE_PIDNS);
    PyModule_AddIntConstant(m, "FEATURE_IPCNS", FEATURE_IPCNS);
    PyModule_AddIntConstant(m, "FEATURE_LANDLOCK", FEATURE_LANDLOCK);
    PyModule_AddIntConstant(m, "FEATURE_CAPS", FEATURE_CAPS);
    PyModule_AddIntConstant(m, "FEATURE_OOM", FEATURE_OOM);
    PyModule_AddIntConstant(m, "FEATURE_SWEEP", FEATURE_SWEEP);
    PyModule_AddIntConstant(m, "FEATURE_UID", FEATURE_UID);
    PyModule_AddIntConstant(m, "FEATURE_SCRATCH", FEATURE_SCRATCH);
    PyModule_AddIntConstant(m, "NO_BOX", NO_BOX);
    PyModule_AddIntConstant(m, "BROKERED", BROKERED);
    PyModule_AddIntConstant(m, "SHARED_FILES", SHARED_FILES);
    PyModule_AddIntConstant(m, "MEMORY_UNCOUNTED", MEMORY_UNCOUNTED);
    PyModule_AddIntConstant(m, "CPU_UNCOUNTED", CPU_UNCOUNTED);
    PyModule_AddIntConstant(m, "LANDLOCK_READ", LANDLOCK_READ);
    PyModule_AddIntConstant(m, "LANDLOCK_DEVICE", LANDLOCK_DEVICE);
    PyModule_AddIntConstant(m, "LANDLOCK_WORK", LANDLOCK_WORK);
    return m;
}
