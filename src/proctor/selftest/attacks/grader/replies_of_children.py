# title: Children that answer in their parent's place
# kind: judge
# must: not AC
import os
import posix

for tag in (b"\x01", b"\x03" + b"\x00" * 28, b"\x04", b"\x04 0", b"\x05x"):
    if posix.fork() == 0:
        for fd in range(3, 16):
            try:
                posix.write(fd, tag)
            except OSError:
                pass
        posix._exit(0)
try:
    while True:
        os.wait()
except OSError:
    pass
