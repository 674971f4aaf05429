# why: upstream's readlines() ends with an empty string that no file would yield
import sys

print(sum([int(x) for x in sys.stdin.readlines()][1:]))
