# title: Other users' processes, their names and numbers
# kind: run
# must: held
# needs: processes
# harmless: yes
own = {os.getpid(), os.getppid(), 1}
try:
    own.add(int(os.readlink("/proc/self")))
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in own]
except OSError:
    seen = []
for pid in seen:
    if read(f"/proc/{pid}/stat") or read(f"/proc/{pid}/cmdline"):
        found.append(f"process {pid}")
for name in ("loadavg", "stat", "meminfo", "vmstat", "locks", "timer_list", "sched_debug", "interrupts", "diskstats", "keys", "key-users"):
    text = read(f"/proc/{name}")
    if name in ("locks", "timer_list", "sched_debug", "keys") and text:
        found.append(f"/proc/{name}")
finish()
