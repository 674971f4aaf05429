# why: replacing every descriptor by one's own must not forge or hang anything
import os

input()
r, w = os.pipe()
for fd in range(3, 256):
    if fd not in (r, w):
        try:
            os.dup2(w, fd)
        except OSError:
            pass
os.dup2(w, 1)
print("46")
