# why: descriptor 1 itself, in both modes
import os

while True:
    os.write(1, b"x" * (1 << 20))
