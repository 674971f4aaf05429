# why: a Fraction's text is not its value
from fractions import Fraction


class Solution:
    def add(self, a, b):
        return str(Fraction(a + b, 1)) + "/1"
