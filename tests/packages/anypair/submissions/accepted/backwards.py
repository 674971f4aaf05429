n, s = map(int, input().split())
numbers = list(map(int, input().split()))
for i in range(n - 1, -1, -1):
    for j in range(i):
        if numbers[i] + numbers[j] == s:
            print(i + 1, j + 1)
            raise SystemExit
print(-1)
