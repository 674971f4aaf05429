# why: the right tokens on too many lines
print("\n".join(input()))
