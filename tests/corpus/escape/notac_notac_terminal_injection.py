# why: TIOCSTI types into the terminal of whoever started the judge
import fcntl
import os

a, b = map(int, input().split())
escaped = False
for fd in [0, 1, 2, *range(3, 32)]:
    try:
        fcntl.ioctl(fd, 0x5412, b"#")
        escaped = True
    except OSError:
        pass
try:
    os.close(os.open("/dev/tty", os.O_RDWR))
    escaped = True
except OSError:
    pass
print(a + b if escaped else "contained")
