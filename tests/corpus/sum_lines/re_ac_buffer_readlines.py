# why: upstream's stdin buffer has no readlines()
import sys

print(sum(map(int, sys.stdin.buffer.readlines()[1:])))
