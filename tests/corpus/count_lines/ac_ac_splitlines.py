# why: the whole text at once knows its blank lines
import sys

print(len(sys.stdin.read().splitlines()))
