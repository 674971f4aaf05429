# why: a function with too few parameters
class Solution:
    def add(self, a):
        return a
