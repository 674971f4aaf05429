# title: A CPU core for itself alone, and merged memory to measure (prctl)
# kind: run
# must: held
# needs: kernel
PR_SCHED_CORE, PR_SET_MEMORY_MERGE = 62, 67
if libc.prctl(PR_SCHED_CORE, 1, 0, 0, ctypes.c_ulong(0)) == 0:
    found.append("no other program may share its core")
if libc.prctl(PR_SCHED_CORE, 2, bait["victim"], 0, ctypes.c_ulong(0)) == 0:
    found.append("and the host's process was bound to it")
if libc.prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0) == 0:
    found.append("memory is merged with that of others")
import mmap

part = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
attempt("a page may be merged with that of others", part.madvise, 12)  # MADV_MERGEABLE
finish()
