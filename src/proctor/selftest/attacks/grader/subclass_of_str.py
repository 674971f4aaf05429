# title: A function-call problem: a subclass of str that equals everything
# kind: judge
# must: not AC
# function: reveal
class Anything(str):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = str.__hash__
    __len__ = lambda self: 47


class Solution:
    def reveal(self, name):
        return Anything("x")
