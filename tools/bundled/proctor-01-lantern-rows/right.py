from math import gcd

n, a, b = map(int, input().split())
both = a // gcd(a, b) * b
print(n // a + n // b - n // both)
