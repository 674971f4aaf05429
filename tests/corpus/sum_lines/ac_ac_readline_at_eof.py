# why: sys.stdin.readline() at the end of input is an empty string, not an exception
import sys

sys.stdin.readline()
total = 0
while line := sys.stdin.readline():
    total += int(line)
print(total)
