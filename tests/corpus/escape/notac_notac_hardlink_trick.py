# why: a second name for a file of somebody else
import os
import sys

a, b = map(int, input().split())
escaped = False
for source in ("/etc/passwd", sys.executable or "/bin/sh", os.__file__):
    try:
        os.link(source, os.path.dirname(source) + "/proctor-link")
        escaped = True
    except OSError:
        pass
print(a + b if escaped else "contained")
