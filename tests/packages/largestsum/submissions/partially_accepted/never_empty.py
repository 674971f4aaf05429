# Takes the empty sum where all numbers are negative: group 1 only.
n = int(input())
numbers = list(map(int, input().split()))
best = here = 0
for number in numbers:
    here = max(0, here + number)
    best = max(best, here)
print(best)
