# why: a method may use the imported function whose name it has
class Solution:
    def add(self, a, b):
        return add(a, b)
