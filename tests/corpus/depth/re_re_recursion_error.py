# why: recursion without end is an exception in both modes
def depth(n):
    return depth(n + 1)


print(depth(int(input())))
