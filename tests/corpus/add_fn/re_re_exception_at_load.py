# why: an exception while the program is loaded
nothing = [][0]


class Solution:
    def add(self, a, b):
        return a + b
