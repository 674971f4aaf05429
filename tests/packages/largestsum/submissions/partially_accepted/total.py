# @EXPECTED_SCORE@: 30
input()
print(sum(map(int, input().split())))
