# why: upstream puts its own imports first, and a __future__ import must be the first
from __future__ import annotations


class Solution:
    def add(self, a: int, b: int) -> int:
        return a + b
