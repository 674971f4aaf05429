# why: the host's own files must not be readable
import os

a, b = map(int, input().split())
escaped = False
for path in ("/etc/shadow", "/root/.bashrc", "/root/.profile", "/home",
             "/etc/hostname", "/proc/kcore", "/dev/mem", "/sys/kernel/notes", "/dev/kmsg"):
    try:
        escaped |= len(os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 1)) > 0
    except OSError:
        pass
print(a + b if escaped else "contained")
