# why: sys.stdin.buffer.read() is the bytes idiom that upstream does support
import sys

print(sum(map(int, sys.stdin.buffer.read().split()[1:])))
