# why: 100,000 levels of nesting must not overflow the encoder or the judge
class Solution:
    def add(self, a, b):
        nested = a + b
        for _ in range(100_000):
            nested = [nested]
        return nested
