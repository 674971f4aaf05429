# why: upstream's preamble raises the recursion limit to 50,000
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


a, b = map(int, input().split())
print(a + b + down(5000) - 5000)
