# title: A function-call problem: subclasses of list and dict that equal everything or never end
# kind: judge
# must: not AC
# function: reveal
# limits: cpu=0.5
class Many(list):
    __eq__ = lambda self, other: True
    __len__ = lambda self: 1

    def __iter__(self):
        while True:
            yield self


class Table(dict):
    __eq__ = lambda self, other: True
    __missing__ = lambda self, key: self
    items = lambda self: Many()


class Solution:
    def reveal(self, name):
        return Many([Table(a=Many())])
