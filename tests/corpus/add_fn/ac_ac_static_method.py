# why: a static method is called like any other
class Solution:
    @staticmethod
    def add(a, b):
        return a + b
