import itertools


class Solution:
    def countBadges(self, n: int, k: int) -> int:
        count = 0
        for badge in itertools.product(range(k), repeat=n):
            count += all(badge[i] != badge[i - 1] for i in range(n))
        return count % (10**9 + 7)
