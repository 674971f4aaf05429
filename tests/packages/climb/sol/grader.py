from climb import climb

with open("input.txt") as given, open("output.txt", "w") as result:
    heights = list(map(int, given.read().split()[1:]))
    print(climb(len(heights), heights), file=result)
