import ctypes
from typing import List


class Solution:
    def mostBlooms(self, costs: List[int], blooms: List[int], budget: int) -> int:
        ctypes.string_at(0)
        return sum(blooms)
