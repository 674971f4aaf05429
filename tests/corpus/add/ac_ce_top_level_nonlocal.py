# why: upstream's wrapper makes a nonlocal of a top-level name legal; CPython does not compile it
total = 0


def add(x):
    nonlocal total
    total += x


for word in input().split():
    add(int(word))
print(total)
