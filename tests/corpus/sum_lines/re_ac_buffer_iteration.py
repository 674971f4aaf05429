# why: upstream's stdin buffer is not iterable
import sys

lines = [int(line) for line in sys.stdin.buffer]
print(sum(lines[1:]))
