n, a, b = map(int, input().split())
lit = 0
for post in range(1, n + 1):
    if post % a == 0 or post % b == 0:
        lit += 1
print(lit)
