# why: the plain right answer
a, b = map(int, input().split())
print(a**b)
