# why: exactly the expected floats
class Solution:
    def mean(self, xs: List[float]) -> float:
        return round(math.fsum(xs) / len(xs), 5)
