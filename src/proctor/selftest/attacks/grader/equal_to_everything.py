# title: A function-call problem: a result that says it equals everything
# kind: judge
# must: not AC
# function: reveal
class Anything:
    __class__ = str
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __len__ = lambda self: 47
    __iter__ = lambda self: iter("x" * 47)
    __hash__ = lambda self: 0
    __str__ = __repr__ = lambda self: "x"


class Solution:
    def reveal(self, name):
        return Anything()
