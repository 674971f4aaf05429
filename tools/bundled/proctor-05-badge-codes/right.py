class Solution:
    def countBadges(self, n: int, k: int) -> int:
        mod = 10**9 + 7
        ring = pow(k - 1, n, mod) + (k - 1 if n % 2 == 0 else 1 - k)
        return ring % mod
