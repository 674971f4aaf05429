# why: upstream makes top-level variables local to a function, so a helper's `global` finds none
total = 0


def add(x):
    global total
    total += x


for word in input().split():
    add(int(word))
print(total)
