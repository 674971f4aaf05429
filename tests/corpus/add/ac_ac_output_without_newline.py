# why: the last newline does not count
a, b = map(int, input().split())
print(a + b, end="")
