# why: an honest wrong number
s = input()
print(f"{s}.5" if s.isdigit() else s)
