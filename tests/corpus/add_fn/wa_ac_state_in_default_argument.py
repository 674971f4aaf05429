# why: a mutable default argument is state too
class Solution:
    def add(self, a, b, seen=[]):
        seen.append(a + b)
        return seen[0]
