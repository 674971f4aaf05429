# why: upstream's sys.stdin.buffer.readline() returns the first line for ever
import sys

input = sys.stdin.buffer.readline
n = int(input())
print(sum(int(input()) for _ in range(n)))
