# why: pipe buffers are kernel memory
import os

pipes = []
try:
    while True:
        r, w = os.pipe()
        pipes.append((r, w))
        os.set_blocking(w, False)
        os.write(w, b"x" * 65536)
except OSError:
    pass
while True:
    pass
