# why: lists of lists, as the expected JSON has them
class Solution:
    def pairs(self, xs: List[int], ys: List[str]) -> List[List]:
        return [[x, y] for x, y in zip(xs, ys)]
