import heapq
import signal
import sys


def main():
    signal.alarm(0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    n, m, *times = map(int, sys.stdin.read().split())
    ready = [(t, t) for t in times]
    heapq.heapify(ready)
    last = 0
    for _ in range(n):
        last, t = ready[0]
        heapq.heapreplace(ready, (last + t, t))
    print(last)


main()
