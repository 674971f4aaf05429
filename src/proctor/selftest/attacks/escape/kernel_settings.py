# title: The kernel's settings, control groups and other knobs in /proc and /sys
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import glob

paths = ["/proc/sys/" + name for name in ("kernel/core_pattern", "kernel/hostname", "kernel/modprobe", "vm/drop_caches",
                                          "vm/overcommit_memory", "user/max_user_namespaces", "kernel/ns_last_pid")]
paths += ["/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/power/state", "/proc/mtrr"]
for pattern in ("*", "*/*", "*/*/*"):
    paths += glob.glob(f"/sys/fs/cgroup/{pattern}")[:300]
for path in paths:
    if os.path.isfile(path):
        try:
            os.close(os.open(path, os.O_WRONLY))
            found.append(f"{path} can be written")
        except OSError:
            pass
finish()
