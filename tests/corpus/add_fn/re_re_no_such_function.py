# why: the function asked for is not there
class Solution:
    def plus(self, a, b):
        return a + b
