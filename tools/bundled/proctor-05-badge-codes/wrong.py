class Solution:
    def countBadges(self, n: int, k: int) -> int:
        mod = 10**9 + 7
        return k * pow(k - 1, n - 1, mod) % mod
