n, k = map(int, input().split())
print([0, 1, 2, 3, 4, 5, 6][n] if n < 10 else [][n])
