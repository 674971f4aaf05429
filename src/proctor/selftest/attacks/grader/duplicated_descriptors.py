# title: Descriptors 0 to 2 swapped, duplicated and replaced by pipes of its own
# kind: judge
# must: not AC
import os

r, w = os.pipe()
os.write(w, b"AC\n" * 10)
os.dup2(0, 1)
os.dup2(r, 0)
os.dup2(w, 2)
for fd in range(3, 64):
    if fd not in (r, w):
        try:
            os.dup2(w, fd)
        except OSError:
            pass
print("AC")
