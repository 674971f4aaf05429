# why: 1.5 and 1.5000000000 are the same decimal
n = int(input())
print(round(sum(map(int, input().split())) / n, 10))
