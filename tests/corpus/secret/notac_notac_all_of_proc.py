# why: no file in /proc shows another process's arguments, environment or memory
import glob
import os
import re

found = []
for path in glob.glob("/proc/[0-9]*/*") + glob.glob("/proc/[0-9]*/fd/*"):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        found += re.findall(rb"proctor-secret-[0-9a-f]{24}", os.read(fd, 1 << 20))
        os.close(fd)
    except OSError:
        pass
print(found[0].decode() if found else "nothing found")
