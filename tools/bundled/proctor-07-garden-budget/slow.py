from typing import List


class Solution:
    def mostBlooms(self, costs: List[int], blooms: List[int], budget: int) -> int:
        n = len(costs)
        best = 0
        for chosen in range(1 << n):
            bushes = [i for i in range(n) if chosen >> i & 1]
            if sum(costs[i] for i in bushes) <= budget:
                best = max(best, sum(blooms[i] for i in bushes))
        return best
