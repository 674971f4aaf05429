# why: children that answer in their parent's place, with a process id of their own
import os
import posix

for tag in (b"\x01", b"\x03" + b"\x00" * 28, b"\x04", b"\x05timeoutexception"):
    if posix.fork() == 0:
        for fd in range(3, 10):
            try:
                posix.write(fd, tag)
            except OSError:
                pass
        posix._exit(0)
os.wait()
