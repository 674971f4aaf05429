# why: order counts
class Solution:
    def pairs(self, xs, ys):
        return [[x, y] for x, y in zip(xs, ys)][::-1]
