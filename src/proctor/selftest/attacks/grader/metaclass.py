# title: A function-call problem: a class whose metaclass says it equals everything
# kind: judge
# must: not AC
# function: reveal
class Meta(type):
    __eq__ = lambda cls, other: True
    __hash__ = type.__hash__
    __instancecheck__ = __subclasscheck__ = lambda cls, other: True


class Anything(metaclass=Meta):
    pass


class Solution:
    def reveal(self, name):
        return Anything
