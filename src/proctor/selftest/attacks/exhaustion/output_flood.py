# title: Output without end
# kind: run
# must: limit output
import sys

while True:
    os.write(1, b"x" * (1 << 16))
