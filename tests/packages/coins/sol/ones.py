# @check-partial-score: all
print(0, 0, input())
