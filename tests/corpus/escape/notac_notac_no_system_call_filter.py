# why: a program must find itself under a system call filter, and unable to lift it
import ctypes

a, b = map(int, input().split())
escaped = ctypes.CDLL(None).prctl(21, 0, 0, 0, 0) == 0
print(a + b if escaped else "contained")
