# why: nothing is writable unless disk was asked for
# upstream: AC (escape) files can be written anywhere
import os

a, b = map(int, input().split())
escaped = False
for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/home", "/root", "/work", "/", ".", "/etc"):
    try:
        fd = os.open(folder + "/proctor-escape", os.O_CREAT | os.O_RDWR, 0o600)
        os.write(fd, b"out")
        escaped |= os.pread(fd, 3, 0) == b"out"
    except OSError:
        pass
print(a + b if escaped else "contained")
