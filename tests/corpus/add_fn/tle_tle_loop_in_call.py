# why: an honest endless loop
class Solution:
    def add(self, a, b):
        while a + b:
            pass
