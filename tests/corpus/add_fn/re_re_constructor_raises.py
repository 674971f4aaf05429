# why: class Solution cannot be built
class Solution:
    def __init__(self):
        raise RuntimeError("no solution")

    def add(self, a, b):
        return a + b
