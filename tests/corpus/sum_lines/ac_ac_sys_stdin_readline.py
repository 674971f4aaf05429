# why: sys.stdin.readline keeps its position and its newline in both modes
import sys

n = int(sys.stdin.readline())
print(sum(int(sys.stdin.readline()) for _ in range(n)))
