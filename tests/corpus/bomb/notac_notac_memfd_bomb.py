# why: memory in a memfd belongs to no process, so the out-of-memory killer may pick the wrong one
import os

fds = []
while True:
    fd = os.memfd_create("bomb")
    fds.append(fd)
    for _ in range(16):
        os.write(fd, b"x" * (4 << 20))
