# why: metadata is writable state too
import os
import posix

a, b = map(int, input().split())
escaped = False
for path in (os.__file__, "/tmp", "/", "/dev/null"):
    for change in (lambda p: os.utime(p, (1, 1)), lambda p: posix.chmod(p, 0o777)):
        try:
            change(path)
            escaped = True
        except OSError:
            pass
print(a + b if escaped else "contained")
