# why: the library on disk is shared by all jobs and must be read-only
import os

a, b = map(int, input().split())
escaped = False
for path in (os.__file__, __import__("sys").executable):
    try:
        os.close(os.open(path, os.O_RDWR))
        escaped = True
    except (OSError, TypeError):
        pass
print(a + b if escaped else "contained")
