# why: a from-imported readline() has no newline upstream, so a blank line looks like the end
from sys import stdin

print(sum(1 for _ in iter(stdin.readline, "")))
