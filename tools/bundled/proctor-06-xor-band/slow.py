left, right = map(int, input().split())
value = 0
number = left
while number != right:
    value ^= number ^ (number + 1)
    number += 2
print(value ^ right)
