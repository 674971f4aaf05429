# why: upstream's stdin object is not iterable
import sys

n = int(input())
print(sum(int(line) for line in sys.stdin))
