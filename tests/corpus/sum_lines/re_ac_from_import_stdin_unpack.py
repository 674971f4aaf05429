# why: iterating a from-imported stdin yields nothing upstream, so the first line is missing
from sys import stdin

lines = [line for line in stdin]
n = int(lines[0])
print(sum(map(int, lines[1 : n + 1])))
