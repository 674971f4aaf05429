# why: a zip object is not a list
class Solution:
    def pairs(self, xs, ys):
        return zip(xs, ys)
