from typing import List


class Solution:
    def longestQuiet(self, day: int, calls: List[List[int]]) -> int:
        best = run = 0
        for second in range(day):
            if any(start <= second <= end for start, end in calls):
                run = 0
            else:
                run += 1
                best = max(best, run)
        return best
