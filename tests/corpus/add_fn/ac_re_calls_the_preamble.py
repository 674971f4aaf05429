# why: a program that uses the imported function of that name, here and in a local variable, does not define it
def use(a, b):
    add = max
    return add(a, b)
print(add(1, 2), use(1, 2))
