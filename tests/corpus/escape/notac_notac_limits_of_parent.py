# why: prlimit on another process can end it
import ctypes
import posix

a, b = map(int, input().split())
libc = ctypes.CDLL(None)
old = (ctypes.c_uint64 * 2)()
pids = {posix.getppid(), 1, posix.getpid() - 1} - {0, posix.getpid()}
escaped = any(libc.prlimit(p, 7, None, old) == 0 for p in pids)
print(a + b if escaped else "contained")
