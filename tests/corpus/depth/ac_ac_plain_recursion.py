# why: pure Python calls need no C stack, so a raised limit is enough
import sys

sys.setrecursionlimit(10**6)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


print(depth(int(input())))
