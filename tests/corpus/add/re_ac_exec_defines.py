# why: what exec() defines becomes a local that upstream's wrapper cannot see
exec("def plus(x, y): return x + y")
a, b = map(int, input().split())
print(plus(a, b))
