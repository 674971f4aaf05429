# Right where there is a pair; spins or crashes where there is none.
n, s = map(int, input().split())
numbers = list(map(int, input().split()))
for i in range(n):
    for j in range(i):
        if numbers[i] + numbers[j] == s:
            print(i + 1, j + 1)
            raise SystemExit
while True:
    pass
