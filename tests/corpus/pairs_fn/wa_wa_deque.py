# why: a deque is not a list
class Solution:
    def pairs(self, xs, ys):
        return deque([x, y] for x, y in zip(xs, ys))
