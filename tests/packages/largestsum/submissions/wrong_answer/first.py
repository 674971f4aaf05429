# @EXPECTED_SCORE@: 0
input()
print(input().split()[0] + "1")
