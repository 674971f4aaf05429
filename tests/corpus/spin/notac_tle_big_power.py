# why: one arithmetic operation on huge integers cannot be interrupted
n = 7 ** (10**8)
print(n % 10)
