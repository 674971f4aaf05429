# why: Infinity is inf to Decimal
print(input().replace("inf", "Infinity"))
