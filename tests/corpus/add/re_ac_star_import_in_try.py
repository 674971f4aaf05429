# why: a star import is not allowed inside the function upstream wraps the program in
try:
    from math import *
except ImportError:
    pass

a, b = map(int, input().split())
print(int(fsum([a, b])))
