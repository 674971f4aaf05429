# why: a tuple at the top counts as a list
class Solution:
    def pairs(self, xs, ys):
        return tuple([x, y] for x, y in zip(xs, ys))
