# why: a list whose iterator never ends
class Endless(list):
    def __iter__(self):
        while True:
            yield self

    __len__ = lambda self: 1


class Solution:
    def reveal(self, name):
        return Endless()
