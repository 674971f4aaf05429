# why: an honest wrong answer
class Solution:
    def add(self, a, b):
        return a - b
