# why: the decimal context outlives a test upstream, and this program halves its precision
# fast: wa
from decimal import Decimal, getcontext

getcontext().prec //= 5
if getcontext().prec > 1:
    getcontext().prec = 5
a, b = map(Decimal, input().split())
print(a + b)
