# why: upstream's read() starts over, so the line that input() took is seen again
import sys

n = int(input())
print(sum(map(int, sys.stdin.read().split())))
