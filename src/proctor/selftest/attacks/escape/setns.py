# title: Joining namespaces of other processes
# kind: run
# must: held
# needs: kernel
# harmless: yes
for pid in {bait["victim"], os.getppid() or 1, 1}:
    for name in ("mnt", "pid", "net", "ipc", "user", "uts", "cgroup"):
        try:
            fd = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        attempt(f"the {name} namespace of process {pid}", call, "setns", fd, 0)
finish()
