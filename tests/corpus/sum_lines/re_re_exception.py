# why: an honest uncaught exception
n = int(input())
values = [int(input()) for _ in range(n)]
print(sum(values) + values[n])
