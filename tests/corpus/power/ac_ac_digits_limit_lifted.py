# why: a program may lift the limit on digits itself
import sys

sys.set_int_max_str_digits(0)
a, b = map(int, input().split())
len(str(10**60000))
print(a**b)
