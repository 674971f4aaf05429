# why: what a function prints is bounded too
class Solution:
    def add(self, a, b):
        while True:
            print("x" * 65536)
