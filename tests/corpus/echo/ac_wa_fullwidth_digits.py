# why: Decimal reads fullwidth digits
print(input().translate({48 + d: 0xFF10 + d for d in range(10)}))
