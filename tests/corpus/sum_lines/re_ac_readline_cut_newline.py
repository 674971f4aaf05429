# why: a from-imported readline() has no newline upstream, so [:-1] cuts a digit
from sys import stdin

n = int(stdin.readline()[:-1])
print(sum(int(stdin.readline()) for _ in range(n)))
