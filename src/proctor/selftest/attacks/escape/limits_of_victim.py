# title: prlimit on another process of the same user, which can end it
# kind: run
# must: held
# needs: processes
# harmless: yes
NOFILE, CPU = 7, 0
for pid in (bait["victim"], os.getppid() or 1, 1):
    old = (ctypes.c_uint64 * 2)()
    attempt(f"limits of process {pid} were read", call, "prlimit64", pid, CPU, None, old)
new = (ctypes.c_uint64 * 2)(17, 19)
attempt("limits were changed", call, "prlimit64", bait["victim"], NOFILE, new, None)
finish()
