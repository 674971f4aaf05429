# why: reading all of stdin once, the other idiom that always works
import sys

data = sys.stdin.read().split()
print(sum(map(int, data[1:])))
