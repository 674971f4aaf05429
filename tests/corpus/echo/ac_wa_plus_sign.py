# why: +7 is 7 to Decimal
s = input()
print("+" + s)
