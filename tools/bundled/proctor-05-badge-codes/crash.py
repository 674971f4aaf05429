class Solution:
    def count_badges(self, n: int, k: int) -> int:
        mod = 10**9 + 7
        return (pow(k - 1, n, mod) + (-1) ** n * (k - 1)) % mod
