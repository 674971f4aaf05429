def up_to(n):
    return (n, 1, n + 1, 0)[n % 4]


left, right = map(int, input().split())
print(up_to(right) ^ up_to(left))
