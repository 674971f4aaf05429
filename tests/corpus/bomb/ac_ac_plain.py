# why: the small limits of this problem are enough for an honest program
print(sum(map(int, input().split())))
