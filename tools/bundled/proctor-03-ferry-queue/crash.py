import sys


def search(low, high, enough):
    if low == high:
        return low
    middle = (low + high) // 2
    if enough(middle):
        return search(low, middle, enough)
    return search(middle, high, enough)


n, m, *times = map(int, sys.stdin.read().split())
print(search(0, n * min(times), lambda minute: sum(minute // t for t in times) >= n))
