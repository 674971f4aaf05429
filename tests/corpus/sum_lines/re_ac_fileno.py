# why: upstream's stdin has no file number
import os
import sys

data = os.read(sys.stdin.fileno(), 65536).split()
print(sum(map(int, data[1:])))
