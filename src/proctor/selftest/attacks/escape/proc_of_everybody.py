# title: Secrets in whatever /proc shows of other processes
# kind: run
# must: held
# needs: processes
# harmless: yes
try:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
except OSError:
    pids = []
for pid in pids:
    for name in ("cmdline", "environ"):
        look(f"/proc/{pid}/{name}", read(f"/proc/{pid}/{name}"))
finish(f"{len(pids)} processes in sight")
