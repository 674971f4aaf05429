# why: from-imported stdin.readline works upstream as long as the newline is not relied on
from sys import stdin

n = int(stdin.readline())
print(sum(int(stdin.readline()) for _ in range(n)))
