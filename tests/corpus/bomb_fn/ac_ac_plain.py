# why: the small limits of this problem are enough for an honest program
class Solution:
    def add(self, a, b):
        return a + b
