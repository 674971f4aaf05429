# @check-runtime-error: *


def climb(n, heights):
    best = here = 0
    for i in range(n):
        here = here + 1 if heights[i] < heights[i + 1] else 1
        best = max(best, here)
    return best
