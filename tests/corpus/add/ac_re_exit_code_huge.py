# why: an exit code that fits no C long is still not zero
import sys

a, b = map(int, input().split())
print(a + b)
sys.exit(10**30 + 1)
