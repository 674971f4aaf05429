/* Executing a program at once, with no Python in between. Included by serve.h.
 *
 * The child shares the agent's memory until it executes (as after vfork): nothing is copied, and
 * the agent waits. So it must leave that memory as it was; the attribute of it that it changes
 * (dumpable) the agent changes back. And it must not run out of memory while it puts files in place:
 * to kill it for that is to kill the agent. The host makes sure that the files are small.
 */

enum { WORDS_MOST = 65536, MOST_WORDS = 1024, MOST_FILES = 64, NOT_EXECUTED = 127 };

/* What to execute, as sandbox/command.py writes it: this head, the sizes of the files, 8 bytes each,
 * and the words, each ended by a NUL: arguments, variables, names of directories and of files. All
 * that takes `size` bytes; the contents of the files follow. */
struct words_head { uint32_t size, argc, envc, directories, files, by_descriptor; };

static struct {
    struct words_head head;
    uint64_t sizes[MOST_FILES];
    char *argv[MOST_WORDS], *envp[MOST_WORDS], *directories[MOST_FILES], *files[MOST_FILES];
    char places[3][sizeof cell.work + 8];
    char bytes[WORDS_MOST];
} words;

/* Reads a file of words, but not the contents behind them, which do not belong in the agent's memory.
 * Returns 0, or -1 if it is not such a file. */
static int read_words(int fd)
{
    struct words_head *head = &words.head;
    char **lists[] = { words.argv, words.envp, words.directories, words.files };
    if (pread(fd, head, sizeof *head, 0) != sizeof *head) return -1;
    if (!head->argc || head->argc >= MOST_WORDS || head->envc >= MOST_WORDS - 3) return -1;
    if (head->directories > MOST_FILES || head->files > MOST_FILES) return -1;
    size_t sizes = head->files * sizeof words.sizes[0];
    if (head->size <= sizeof *head + sizes || head->size > sizeof words.bytes) return -1;
    if (pread(fd, words.bytes, head->size, 0) != (ssize_t)head->size) return -1;
    memcpy(words.sizes, words.bytes + sizeof *head, sizes);
    uint32_t lengths[] = { head->argc, head->envc, head->directories, head->files };
    char *at = words.bytes + sizeof *head + sizes, *end = words.bytes + head->size;
    if (end[-1]) return -1;
    for (int list = 0; list < 4; list++)
        for (uint32_t i = 0; i < lengths[list]; i++) {
            if (at >= end) return -1;
            lists[list][i] = at;
            at += strlen(at) + 1;
        }
    words.argv[head->argc] = words.envp[head->envc] = NULL;
    return 0;
}

/* Tells the program where its working directory is, unless the host has said otherwise before. */
static void name_places(void)
{
    static const char *const names[] = { "HOME", "TMPDIR", "PWD" };
    char **end = words.envp + words.head.envc;
    for (int i = 0; i < 3; i++) {
        snprintf(words.places[i], sizeof words.places[i], "%s=%s", names[i], cell.work);
        *end++ = words.places[i];
    }
    *end = NULL;
}

/* Makes the missing directories above a path. */
static int make_way(char *path)
{
    for (char *slash = path; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        int failed = mkdir(path, 0700) && errno != EEXIST;
        *slash = '/';
        if (failed) return -1;
    }
    return 0;
}

/* Puts the files, whose contents are in `from`, into the working directory. */
static int place_files(int from)
{
    off_t at = words.head.size;
    for (uint32_t i = 0; i < words.head.directories; i++)
        if (make_way(words.directories[i]) || mkdir(words.directories[i], 0700)) return -1;
    for (uint32_t i = 0; i < words.head.files; i++) {
        if (make_way(words.files[i])) return -1;
        int fd = open(words.files[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
        if (fd < 0) return -1;
        for (off_t end = at + (off_t)words.sizes[i]; at < end;)
            if (sendfile(fd, from, &at, (size_t)(end - at)) <= 0) return -1;
        if (close(fd)) return -1;
    }
    return 0;
}

struct execution { struct job *job; const sigset_t *mask; };

/* What the child does: lock down, place files, execute. The file of words is descriptor 3, the
 * program's, if there is one, descriptor 4. */
static int execute(void *argument)
{
    struct execution *execution = argument;
    struct sigaction plain = { .sa_handler = SIG_DFL };
    if (lock_down(execution->job)) {
        cell.progress->error = errno;
        _exit(1);
    }
    if (place_files(3)) {
        dprintf(2, "the program's files could not be put in place: %s\n", strerror(errno));
        _exit(NOT_EXECUTED);
    }
    fcntl(3, F_SETFD, FD_CLOEXEC);
    if (words.head.by_descriptor) fcntl(4, F_SETFD, FD_CLOEXEC);
    sigaction(SIGINT, &plain, NULL);
    sigaction(SIGPIPE, &plain, NULL); /* Python ignores these two, and so would the program */
    sigaction(SIGXFSZ, &plain, NULL);
    sigprocmask(SIG_SETMASK, execution->mask, NULL);
    if (words.head.by_descriptor)
        syscall(SYS_execveat, 4, "", words.argv, words.envp, AT_EMPTY_PATH);
    else
        execve(words.argv[0], words.argv, words.envp);
    dprintf(2, "%s: %s\n", words.argv[0], strerror(errno));
    _exit(NOT_EXECUTED);
}

/* Starts a job that executes a program. Returns its pid, or -1. */
static pid_t spawn_program(struct job *job, const sigset_t *mask, pid_t *stub)
{
    struct execution execution = { job, mask };
    if (!cell.child_stack) {
        void *stack = mmap(NULL, CHILD_STACK_SIZE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED) return -1;
        cell.child_stack = stack;
    }
    if (job->disk) name_places();
    int error = 0;
    pid_t pid = -1;
    if (cell.features & FEATURE_PIDNS) {
        if (unshare(CLONE_NEWPID)) return -1;
        *stub = start_stub();
        error = errno;
    }
    if (*stub >= 0) {
        pid = clone(execute, cell.child_stack + CHILD_STACK_SIZE - 64,
                    CLONE_VM | CLONE_VFORK | SIGCHLD, &execution);
        error = errno;
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    if (cell.features & FEATURE_PIDNS) setns(cell.own_pidns, CLONE_NEWPID);
    /* No later job may find the words here. */
    memset(&words, 0, (size_t)(words.bytes - (char *)&words) + words.head.size);
    errno = error;
    return pid;
}
