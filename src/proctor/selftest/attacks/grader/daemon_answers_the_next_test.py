# title: A daemon that writes the answer of later tests
# kind: judge
# must: not AC
# limits: cpu=0.5 wall=3
import glob
import posix
import re
import time

if posix.fork() == 0 and posix.setsid() and posix.fork() == 0:
    end = time.time() + 2
    while time.time() < end:
        for path in glob.glob("/proc/[0-9]*/fd/[0-9]"):
            try:
                fd = posix.open(path, posix.O_RDWR)
                found = re.findall(rb"proctor-answer-[0-9a-f]{32}", posix.pread(fd, 65536, 0))
                posix.write(fd, (found[0] if found else b"AC") + b"\n")
                posix.close(fd)
            except OSError:
                pass
        time.sleep(0.01)
    posix._exit(0)
