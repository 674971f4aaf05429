# why: list(sys.stdin) needs an iterable stdin, which upstream has not
import sys

lines = list(sys.stdin)
print(sum(map(int, lines[1:])))
