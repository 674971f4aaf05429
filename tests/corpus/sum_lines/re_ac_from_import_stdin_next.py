# why: a from-imported stdin iterates over the real, empty descriptor upstream
from sys import stdin

n = int(next(stdin))
print(sum(int(line) for line in stdin))
