# why: plain CPython refuses to print more than 4,300 digits; upstream allows 50,000
a, b = map(int, input().split())
len(str(10**5000))
print(a**b)
