# why: right in the end, but the end is hours away
a, b = map(int, input().split())
total = 0
for i in range(10**12):
    total = (total * 31 + i) % 1_000_003
print(a + b + total * 0)
