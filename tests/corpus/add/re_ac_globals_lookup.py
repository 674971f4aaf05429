# why: upstream's top-level variables are not in globals()
a, b = map(int, input().split())
print(globals()["a"] + globals()["b"])
