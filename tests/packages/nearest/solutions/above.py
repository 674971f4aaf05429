n, k = map(int, input().split())
print((2 * n + k) // (2 * k) * k)
