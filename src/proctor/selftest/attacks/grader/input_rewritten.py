# title: Input, source and output rewritten for the next test
# kind: judge
# must: not AC
import fcntl
import os

for fd in range(256):
    for action in (
        lambda fd: os.pwrite(fd, b"forged\n", 0), lambda fd: os.ftruncate(fd, 0),
        lambda fd: fcntl.fcntl(fd, 1033, 0), lambda fd: os.pwrite(os.open(f"/proc/self/fd/{fd}", os.O_RDWR), b"x\n", 0),
    ):
        try:
            action(fd)
        except (OSError, ValueError):
            pass
