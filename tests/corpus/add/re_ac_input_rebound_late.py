# why: a late `input = ...` makes the earlier input() unbound in upstream's wrapper
import sys

a, b = map(int, input().split())
input = sys.stdin.readline
print(a + b)
