# why: next(sys.stdin) needs an iterator, which upstream's stdin is not
import sys

n = int(next(sys.stdin))
print(sum(int(next(sys.stdin)) for _ in range(n)))
