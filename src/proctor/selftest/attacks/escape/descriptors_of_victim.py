# title: A process's descriptors and memory through a pidfd
# kind: run
# must: held
# needs: processes
# harmless: yes
for pid in {bait["victim"], os.getppid(), 1} - {0, os.getpid()}:
    try:
        handle = call("pidfd_open", pid, 0)
    except OSError:
        continue
    for fd in (bait["descriptor"], 0, 1, 2, 3):
        attempt(f"descriptor {fd} of process {pid}", call, "pidfd_getfd", handle, fd, 0)
    part = (ctypes.c_size_t * 2)(bait["address"] & ~4095, 4096)
    attempt(f"process_madvise on {pid}", call, "process_madvise", handle, part, 1, 20, 0)
finish()
