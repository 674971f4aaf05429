amount = int(input())
ways = [
    (sevens + fives + amount - 7 * sevens - 5 * fives, sevens, fives)
    for sevens in range(amount // 7 + 1)
    for fives in range((amount - 7 * sevens) // 5 + 1)
]
_, sevens, fives = min(ways)
print(sevens, fives, amount - 7 * sevens - 5 * fives)
