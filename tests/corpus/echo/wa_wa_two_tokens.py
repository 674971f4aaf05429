# why: one token too many on the line
print(input(), 0)
