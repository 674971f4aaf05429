# why: a C stack that overflows is a crash, not a hang
n = int(input())
nested = ()
for _ in range(3 * 10**6):
    nested = (nested,)
hash(nested)
print(n)
