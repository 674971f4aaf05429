# why: upstream's wrapper makes a top-level `return` legal; CPython does not compile it
a, b = map(int, input().split())
print(a + b)
return
