from typing import List


class Solution:
    def mostBlooms(self, costs: List[int], blooms: List[int], budget: int) -> int:
        best = [0] * (budget + 1)
        for cost, flowers in zip(costs, blooms):
            for money in range(budget, cost - 1, -1):
                best[money] = max(best[money], best[money - cost] + flowers)
        return best[budget]
