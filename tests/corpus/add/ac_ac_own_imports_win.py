# why: a program's own imports come after upstream's preamble and take back what it made modules
from bisect import bisect
from random import random

a, b = map(int, input().split())
assert random() < 1
print(a + b * bisect([a], a))
