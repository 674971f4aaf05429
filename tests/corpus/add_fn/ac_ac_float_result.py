# why: 3.0 is 3 as a JSON number
class Solution:
    def add(self, a, b):
        return float(a + b)
