# why: rebinding a builtin at top level makes it a local of upstream's wrapper, unbound when used
list = list(map(int, input().split()))
print(list[0] + list[1])
