# why: input() is the one way to read that works the same everywhere
n = int(input())
print(sum(int(input()) for _ in range(n)))
