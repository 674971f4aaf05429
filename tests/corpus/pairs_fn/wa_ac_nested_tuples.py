# why: upstream forgives a tuple at the top only, not inside
class Solution:
    def pairs(self, xs, ys):
        return list(zip(xs, ys))
