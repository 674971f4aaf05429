# why: the text of the answer is not the answer
class Solution:
    def pairs(self, xs, ys):
        return json.dumps([[x, y] for x, y in zip(xs, ys)])
