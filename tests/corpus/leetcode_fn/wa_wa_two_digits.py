# why: 0.67 is further than 1e-5 from 0.66667
class Solution:
    def mean(self, xs: List[float]) -> float:
        return round(sum(xs) / len(xs), 2)
