# why: upstream's readlines() starts over, so the line that input() took is seen again
import sys

n = int(input())
print(sum(int(line) for line in sys.stdin.readlines() if line.strip()))
