# why: the preamble ends with plain imports, so bisect(...) calls a module in both modes
class Solution:
    def add(self, a, b):
        return a + b + bisect([], a)
