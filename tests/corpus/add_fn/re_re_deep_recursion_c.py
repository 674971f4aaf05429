# why: 100,000 nested calls of a cached method with nothing but infinite recursion behind them
import sys
from functools import lru_cache

sys.setrecursionlimit(10**8)


class Solution:
    @lru_cache(None)
    def add(self, a, b):
        return self.add(a + 1, b)
