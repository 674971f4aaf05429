# why: an honest uncaught exception
class Solution:
    def add(self, a, b):
        return a + b + [][a]
