from typing import List


class Solution:
    def longestQuiet(self, day: int, calls: List[List[int]]) -> int:
        calls = sorted(calls)
        best = calls[0][0]
        for i in range(len(calls)):
            best = max(best, calls[i + 1][0] - calls[i][1] - 1)
        return max(best, day - 1 - calls[-1][1])
