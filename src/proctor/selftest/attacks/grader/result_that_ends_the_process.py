# title: A function-call problem: a result that ends the process when it is looked at
# kind: judge
# must: not AC
# function: reveal
import os


class Anything(dict):
    def leave(self, *args):
        os._exit(0)

    __repr__ = __str__ = __iter__ = __len__ = __reduce__ = __reduce_ex__ = __bool__ = items = __getattribute__ = leave


class Solution:
    def reveal(self, name):
        return Anything()
