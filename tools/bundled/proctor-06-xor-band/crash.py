count = int(input())
value = 0
for _ in range(count):
    value ^= int(input())
print(value)
