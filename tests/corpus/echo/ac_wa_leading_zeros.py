# why: 007 is 7 to Decimal
s = input()
print(s.zfill(8) if s.isdigit() else s)
