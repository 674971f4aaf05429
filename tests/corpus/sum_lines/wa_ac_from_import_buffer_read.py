# why: a from-imported stdin's buffer is the real, empty descriptor upstream
from sys import stdin

print(sum(map(int, stdin.buffer.read().split()[1:])))
