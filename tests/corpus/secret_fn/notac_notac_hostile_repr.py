# why: a result whose every method raises must not break the judge
class Anything:
    def __getattribute__(self, name):
        raise RuntimeError(name)

    def fail(self, *args):
        raise RuntimeError("no")

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __hash__ = __reduce_ex__ = fail


class Solution:
    def reveal(self, name):
        return Anything()
