# title: A function-call problem: subclasses of int and float that equal everything
# kind: judge
# must: not AC
# function: reveal
class Whole(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__


class Real(float):
    __eq__ = lambda self, other: True
    __hash__ = float.__hash__
    __repr__ = __str__ = lambda self: name_of_input

name_of_input = "x"
calls = [0]


class Solution:
    def reveal(self, name):
        calls[0] += 1
        return Whole(1) if calls[0] % 2 else Real("nan")
