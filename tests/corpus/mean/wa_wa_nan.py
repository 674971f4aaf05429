# why: nan is within no tolerance of anything
print("nan")
