# why: a from-imported readline() raises StopIteration upstream where the input has no last newline
from sys import stdin

stdin.readline()
total = 0
while line := stdin.readline():
    total += int(line)
print(total)
