n, k = map(int, input().split())
print("the answer is", (2 * n + k) // (2 * k) * k)
