# why: the answer on stderr is not an answer
import sys

a, b = map(int, input().split())
print(a + b, file=sys.stderr)
