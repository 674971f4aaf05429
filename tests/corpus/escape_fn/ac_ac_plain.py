# why: an honest program passes; in this folder any other `ac` is a hole
class Solution:
    def add(self, a, b):
        return a + b
