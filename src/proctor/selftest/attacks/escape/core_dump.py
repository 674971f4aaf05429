# title: A core dump, which the host would store or pipe to a program of its own
# kind: run
# must: held
# needs: kernel
# harmless: yes
import resource

child = os.fork()
if child == 0:
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
    try:
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    except (OSError, ValueError):
        pass
    os.abort()
_, status = os.waitpid(child, 0)
if os.WCOREDUMP(status):
    found.append("a core was dumped")
finish()
