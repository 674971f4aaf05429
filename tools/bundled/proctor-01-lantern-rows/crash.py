n, a, b = map(int, input().split())
step = 0
for candidate in (a, b):
    while candidate % 2 == 0:
        candidate //= 2
both = a * b // step
print(n // a + n // b - n // both)
