# why: upstream's stdin is no context manager
import sys

with sys.stdin as f:
    data = f.read().split()
print(sum(map(int, data[1:])))
