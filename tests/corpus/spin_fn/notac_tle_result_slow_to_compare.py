# why: work hidden in the result's own methods is still the program's work
class Lazy(int):
    def __eq__(self, other):
        while True:
            pass

    __index__ = __int__ = __repr__ = __hash__ = __reduce__ = __eq__


class Solution:
    def add(self, a, b):
        while a < 10**12:
            a += 1
        return Lazy(a + b)
