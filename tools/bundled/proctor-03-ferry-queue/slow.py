import heapq
import sys


def main():
    n, m, *times = map(int, sys.stdin.read().split())
    ready = [(t, t) for t in times]
    heapq.heapify(ready)
    last = 0
    for _ in range(n):
        last, t = ready[0]
        heapq.heapreplace(ready, (last + t, t))
    print(last)


main()
