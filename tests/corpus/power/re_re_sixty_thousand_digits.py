# why: 60,000 digits are too many in both modes
a, b = map(int, input().split())
len(str(10**60000))
print(a**b)
