# Raises StopIteration where there is no pair.
n, s = map(int, input().split())
numbers = list(map(int, input().split()))
i, j = next((i, j) for i in range(n) for j in range(i) if numbers[i] + numbers[j] == s)
print(i + 1, j + 1)
