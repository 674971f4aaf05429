# why: from-imported stdin.read() gives the whole input in both modes
from sys import stdin

print(sum(map(int, stdin.read().split()[1:])))
