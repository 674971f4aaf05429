# why: upstream sees the first line again; CPython's input() has read ahead, so there the rest is lost
import sys

n = int(input())
print(sum(map(int, sys.stdin.buffer.read().split())))
