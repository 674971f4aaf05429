# title: Tracing a process of the same user, the parent, the box's first process
# kind: run
# must: held
# needs: processes
# harmless: yes
PTRACE_SEIZE = 0x4206
for pid in {bait["victim"], os.getppid(), 1} - {0, os.getpid()}:
    attempt(f"process {pid} was traced", call, "ptrace", PTRACE_SEIZE, pid, 0, 0)
finish()
