# why: a program may wrap print for itself
real = print


def shout(*args):
    real(*args, sep="", end="\n")


a, b = map(int, input().split())
shout(a + b)
