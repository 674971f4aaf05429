# @check-accepted: examples different any


def climb(n, heights):
    best = here = 1
    for before, after in zip(heights, heights[1:]):
        here = here + 1 if after > before else 1
        best = max(best, here)
    return best
