# why: the usual shape, a method of class Solution
class Solution:
    def add(self, a: int, b: int) -> int:
        return a + b
