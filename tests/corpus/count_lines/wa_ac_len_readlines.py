# why: upstream's readlines() counts an empty line after the last newline
import sys

print(len(sys.stdin.readlines()))
