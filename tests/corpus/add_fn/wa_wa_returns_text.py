# why: "3" is not 3
class Solution:
    def add(self, a, b):
        return str(a + b)
