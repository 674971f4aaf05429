# why: LeetCode takes what is within 1e-5 of the right float, upstream compares with ==
class Solution:
    def mean(self, xs: List[float]) -> float:
        return sum(xs) / len(xs)
