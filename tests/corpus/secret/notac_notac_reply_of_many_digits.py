# why: a forged exit status of thousands of digits, which int() refuses with an exception
import os

for fd in range(3, 10):
    try:
        os.write(fd, b"\x04" + b"9" * 5000)
    except OSError:
        pass
