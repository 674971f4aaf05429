# why: 1_000 is a number to Python's Decimal, not to a contest judge
s = input()
print(f"{int(s):_}" if s.isdigit() else s)
