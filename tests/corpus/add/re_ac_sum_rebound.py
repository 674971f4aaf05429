# why: `sum = sum(...)` is an UnboundLocalError inside upstream's wrapper
values = map(int, input().split())
sum = sum(values)
print(sum)
