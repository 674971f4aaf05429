# why: touching memory beyond the limit
class Solution:
    def add(self, a, b):
        blocks = []
        while True:
            blocks.append(bytearray(b"x") * (8 << 20))
