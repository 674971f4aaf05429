from typing import List


class Solution:
    def mostBlooms(self, costs: List[int], blooms: List[int], budget: int) -> int:
        total = 0
        for cost, flowers in sorted(zip(costs, blooms), key=lambda bush: -bush[1] / bush[0]):
            if cost <= budget:
                budget -= cost
                total += flowers
        return total
