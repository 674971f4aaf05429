/* Forking into a PID namespace of its own. Included once, by lockdown.c. */

/* A system call that leaves errno alone: the stub shares the agent's. */
static long quiet_syscall(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
    return x0;
#endif
}

/* Process 1 of the job's PID namespace. It shares the agent's memory, so it makes system calls
 * only, with all signals blocked; killing it kills everything left in the namespace. Orphans become
 * its children: it reaps them, so that their CPU time shows in its own. It ends with the last of them
 * once the job is finishing; see let_finish(). */
static int stub_main(void *unused)
{
    (void)unused;
    static const uint64_t child_ended = 1u << (SIGCHLD - 1);
    quiet_syscall(NR_close_range, 0, (long)~0u, 0, 0);
    for (;;) {
        quiet_syscall(SYS_rt_sigtimedwait, (long)&child_ended, 0, 0, sizeof child_ended);
        long pid;
        while ((pid = quiet_syscall(SYS_wait4, -1, 0, WNOHANG | __WALL, 0)) > 0) {}
        if (pid == -ECHILD && cell.progress->finishing) return 0;
    }
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
