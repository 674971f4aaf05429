# why: what is written to stderr does not count
import sys

a, b = map(int, input().split())
print("thinking", file=sys.stderr)
print(a + b)
