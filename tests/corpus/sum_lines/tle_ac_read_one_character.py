# why: upstream's read(1) returns everything, for ever, so the loop has no end
import sys

text = ""
while c := sys.stdin.read(1):
    text = (text + c)[-1000:]
print(sum(map(int, text.split()[1:])))
