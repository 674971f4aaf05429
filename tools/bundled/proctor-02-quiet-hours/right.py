from typing import List


class Solution:
    def longestQuiet(self, day: int, calls: List[List[int]]) -> int:
        free_from = 0
        best = 0
        for start, end in sorted(calls):
            best = max(best, start - free_from)
            free_from = max(free_from, end + 1)
        return max(best, day - free_from)
