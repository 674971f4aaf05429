# why: upstream has no tolerance: more digits than expected are wrong
n = int(input())
print(sum(map(int, input().split())) / n)
