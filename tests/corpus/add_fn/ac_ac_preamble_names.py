# why: the platform supplies the usual imports in both modes
class Solution:
    def add(self, a: int, b: int) -> int:
        pairs: List[Optional[int]] = [a, b]
        return reduce(operator.add, chain(Counter(), pairs)) + math.floor(0.5)
