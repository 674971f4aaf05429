# why: upstream does not tell a program that cannot compile from one that fails
class Solution:
    def add(self, a, b)
        return a + b
