# why: a NUL byte is neither a blank nor part of a number
a, b = map(int, input().split())
print(a + b, end="\0")
