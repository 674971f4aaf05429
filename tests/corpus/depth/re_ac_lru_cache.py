# why: a cached function nests C calls; 100,000 of them overflow upstream's 8 MiB stack, not a judge's
# 3.12 and 3.13: re
import sys
from functools import lru_cache

sys.setrecursionlimit(10**6)


@lru_cache(None)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


print(depth(int(input())))
