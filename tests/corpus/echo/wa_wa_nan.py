# why: NaN equals nothing, not even by Decimal
print("NaN")
