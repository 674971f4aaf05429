/* Spawning a job and locking it down: the part of a cell that cannot be Python.
 *
 * Nothing may run between the fork and the lock-down, and first use of ctypes in a fresh child
 * costs more (0.28 ms of page faults) than the whole lock-down does. So: one file, limited API.
 *
 * Order matters (each line breaks if moved):
 *   mounts before Landlock        a Landlock domain may not mount
 *   dumpable before oom_score_adj /proc/self of an undumpable process belongs to root
 *   Landlock before capset        and both before a single byte of the submission is read
 * seccomp is installed once in the agent and inherited: loading it per job costs 0.1 ms.
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
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
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* Calls newer than some headers; from 424 on every architecture has the same numbers. */
enum {
    NR_pidfd_send_signal = 424, NR_io_uring_setup, NR_io_uring_enter, NR_io_uring_register,
    NR_open_tree, NR_move_mount, NR_fsopen, NR_fsconfig, NR_fsmount, NR_fspick, NR_pidfd_open,
    NR_clone3, NR_close_range, NR_pidfd_getfd = 438, NR_process_madvise = 440,
    NR_mount_setattr = 442, NR_quotactl_fd = 443, NR_landlock_create_ruleset = 444, NR_landlock_add_rule,
    NR_landlock_restrict_self, NR_memfd_secret, NR_process_mrelease, NR_set_mempolicy_home_node = 450, NR_setxattrat = 463, NR_open_tree_attr = 467,
    NR_file_setattr = 469,
};

/* Denied to jobs and agent alike. mount, unshare, setns and capset are missing from the list
 * because the agent needs them; a job has no capability left to use them with. */
static const int DENIED[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    SYS_quotactl, SYS_syslog, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init,
    SYS_personality, SYS_move_pages, SYS_mbind, SYS_set_mempolicy, SYS_migrate_pages,
    SYS_vmsplice, SYS_lookup_dcookie, SYS_nfsservctl, SYS_vhangup, SYS_sethostname,
    SYS_setdomainname, SYS_pivot_root, SYS_chroot, SYS_umount2, SYS_setpriority, SYS_ioprio_set,
    SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
    /* System V and POSIX queues, segments, semaphores: they would outlive one test of a job. */
    SYS_shmget, SYS_shmat, SYS_semget, SYS_msgget, SYS_mq_open,
    /* Attributes of an input file would be a note to the next program that reads it. */
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, NR_setxattrat, NR_file_setattr,
    SYS_io_setup, /* its requests are counted for the whole machine (fs.aio-max-nr) */
    NR_io_uring_setup, NR_io_uring_enter, NR_io_uring_register, NR_open_tree, NR_move_mount,
    NR_fsopen, NR_fsconfig, NR_fsmount, NR_fspick, NR_pidfd_getfd, NR_process_madvise,
    NR_mount_setattr, NR_quotactl_fd, NR_set_mempolicy_home_node, NR_memfd_secret, NR_process_mrelease, NR_open_tree_attr,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS__sysctl,
#endif
};

/* Calls whose first argument names a process: only "myself" (0) is allowed. */
static const int SELF_ONLY[] = { SYS_prlimit64, SYS_sched_setaffinity };

enum { FEATURE_PIDNS = 1, FEATURE_IPCNS = 2, FEATURE_LANDLOCK = 4, FEATURE_CAPS = 8,
       FEATURE_OOM = 16 };

enum { STACK_SIZE = 16384, MAX_KEPT = 8 };

/* How far a child came, on a page it shares with the agent and unmaps before any foreign code
 * runs: a lock-down that fails must not look like an exit code of the submission. */
struct progress { int step; int error; };
enum { STEP_NONE, STEP_NAMESPACES, STEP_OOM, STEP_DESCRIPTORS, STEP_DISK, STEP_RLIMITS,
       STEP_LANDLOCK, STEP_CAPS, STEP_DONE };

static struct {
    int features, ruleset, own_pidns;
    char work[256];
    char *stub_stack;
    volatile struct progress *progress;
} cell = { .ruleset = -1, .own_pidns = -1 };

struct job {
    uint64_t cpu, address_space, file_size, processes, stack, disk;
    int streams[3], kept[MAX_KEPT], n_kept;
};

static int limit(int resource, uint64_t value)
{
    struct rlimit r;
    if (getrlimit(resource, &r)) return -1;
    if (value > r.rlim_max) value = r.rlim_max; /* the host may allow less than we ask for */
    r.rlim_cur = r.rlim_max = value;
    return setrlimit(resource, &r);
}

/* Puts the three streams on 0-2 and the kept descriptors on 3, 4, ...; closes all others. */
static int place_descriptors(const struct job *job)
{
    int fds[3 + MAX_KEPT], n = 3 + job->n_kept;
    for (int i = 0; i < n; i++) {
        /* Above every target first, so that no dup2 below overwrites a source. */
        fds[i] = fcntl(i < 3 ? job->streams[i] : job->kept[i - 3], F_DUPFD_CLOEXEC, 3 + MAX_KEPT);
        if (fds[i] < 0) return -1;
    }
    for (int i = 0; i < n; i++)
        if (dup2(fds[i], i) < 0) return -1;
    return (int)syscall(NR_close_range, (unsigned)n, ~0u, 0);
}

static int mount_disk(uint64_t bytes)
{
    char options[96];
    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=700",
             (unsigned long long)bytes, (unsigned long long)(bytes / 4096 + 64));
    if (mount("proctor", cell.work, "tmpfs", MS_NOSUID | MS_NODEV, options)) return -1;
    return chdir(cell.work);
}

static int set_limits(const struct job *job)
{
    if (limit(RLIMIT_CPU, job->cpu) || limit(RLIMIT_FSIZE, job->file_size)
        || limit(RLIMIT_NOFILE, 256) || limit(RLIMIT_MEMLOCK, 0)
        /* 1, not 0, which a core_pattern that pipes to a program ignores (core(5)). */
        || (limit(RLIMIT_CORE, 1) && limit(RLIMIT_CORE, 0))
        || limit(RLIMIT_MSGQUEUE, 0) || limit(RLIMIT_STACK, job->stack)
        || limit(RLIMIT_NPROC, job->processes))
        return -1;
    return job->address_space ? limit(RLIMIT_AS, job->address_space) : 0;
}

static int write_oom_score(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int bad = write(fd, "1000", 4) != 4;
    close(fd);
    return bad ? -1 : 0;
}

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    return (int)syscall(SYS_capset, &header, none);
}

#define STEP(name, call) do { cell.progress->step = (name); if (call) return -1; } while (0)

static int lock_down(const struct job *job)
{
    int f = cell.features, namespaces = 0;
    if (f & FEATURE_IPCNS) namespaces |= CLONE_NEWIPC;
    if (job->disk) namespaces |= CLONE_NEWNS;
    if (namespaces) STEP(STEP_NAMESPACES, unshare(namespaces));
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (f & FEATURE_OOM) STEP(STEP_OOM, write_oom_score());
    setsid();
    STEP(STEP_DESCRIPTORS, place_descriptors(job));
    if (job->disk) STEP(STEP_DISK, mount_disk(job->disk));
    STEP(STEP_RLIMITS, set_limits(job));
    if (f & FEATURE_LANDLOCK) {
        /* The ruleset's own descriptor is closed by now: restrict through the saved copy. */
        STEP(STEP_LANDLOCK, (int)syscall(NR_landlock_restrict_self, 3 + job->n_kept - 1, 0));
        close(3 + job->n_kept - 1);
    }
    if (f & FEATURE_CAPS) STEP(STEP_CAPS, drop_capabilities());
    cell.progress->step = STEP_DONE;
    return 0;
}

/* Process 1 of the job's PID namespace. It shares the agent's memory, so it makes system calls
 * only, with all signals blocked; killing it kills everything left in the namespace. */
static int stub_main(void *unused)
{
    (void)unused;
    struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; }
        ignore = { (void *)SIG_IGN, 0, NULL, 0 };
    syscall(SYS_rt_sigaction, SIGCHLD, &ignore, NULL, 8); /* orphans reap themselves */
    syscall(NR_close_range, 0u, ~0u, 0);
    for (;;) {
        struct timespec forever = { 1 << 30, 0 };
        syscall(SYS_nanosleep, &forever, NULL);
    }
    return 0;
}

static pid_t start_stub(void)
{
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t stub = clone(stub_main, cell.stub_stack + STACK_SIZE - 64, CLONE_VM | SIGCHLD, NULL);
    int error = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return stub;
}

/* Forks in a new PID namespace behind a stub. Returns the pid (0 in the child), or -1. */
static pid_t fork_behind_stub(pid_t *stub)
{
    if (unshare(CLONE_NEWPID)) return -1;
    *stub = start_stub();
    /* glibc's fork, not os.fork: it keeps libc's idea of the thread id right and leaves out
     * Python's at-fork hooks, which a single-threaded agent does not need (0.2 ms). */
    pid_t pid = *stub < 0 ? -1 : fork();
    int error = errno;
    if (pid) {
        setns(cell.own_pidns, CLONE_NEWPID); /* or unshare works only once */
        errno = error;
    }
    return pid;
}

PyDoc_STRVAR(configure_doc,
"configure(features, ruleset_fd, pidfd_of_agent, work_dir)\n\nOnce per agent, before any spawn.");

static PyObject *configure(PyObject *self, PyObject *args)
{
    (void)self;
    const char *work;
    if (!PyArg_ParseTuple(args, "iiis", &cell.features, &cell.ruleset, &cell.own_pidns, &work))
        return NULL;
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

PyDoc_STRVAR(drop_bounding_doc,
"drop_bounding()\n\nEmpties the capability bounding set: no execve will ever gain one again.");

static PyObject *drop_bounding(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)) return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
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

#include "landlock.h"
#include "seccomp.h"
#include "serve.h"
#include "pin.h"

static PyMethodDef methods[] = {
    { "serve", serve, METH_VARARGS, serve_doc },
    { "serve_tests", serve_tests, METH_VARARGS, serve_tests_doc },
    { "configure", configure, METH_VARARGS, configure_doc },
    { "pin", pin, METH_VARARGS, pin_doc },
    { "drop_bounding", drop_bounding, METH_NOARGS, drop_bounding_doc },
    { "mount_proc", mount_proc, METH_NOARGS, mount_proc_doc },
    { "landlock_abi", landlock_abi, METH_NOARGS, landlock_abi_doc },
    { "landlock_ruleset", landlock_ruleset, METH_VARARGS, landlock_ruleset_doc },
    { "install_seccomp", install_seccomp, METH_NOARGS, install_seccomp_doc },
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
    PyModule_AddIntConstant(m, "LANDLOCK_READ", LANDLOCK_READ);
    PyModule_AddIntConstant(m, "LANDLOCK_DEVICE", LANDLOCK_DEVICE);
    PyModule_AddIntConstant(m, "LANDLOCK_WORK", LANDLOCK_WORK);
    return m;
}
