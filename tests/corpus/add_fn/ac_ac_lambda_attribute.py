# why: the function may be any callable
from operator import add as plus


class Solution:
    add = staticmethod(plus)
