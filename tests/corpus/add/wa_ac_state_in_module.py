# why: upstream runs all tests in one process, so module attributes leak from test to test
# fast: wa
import heapq

if not hasattr(heapq, "seen"):
    heapq.seen = []
heapq.seen += map(int, input().split())
print(sum(heapq.seen))
