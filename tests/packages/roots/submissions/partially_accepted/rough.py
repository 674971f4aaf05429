# @EXPECTED_SCORE@: 70
number = float(input())
print(number**0.5 + (0.1 if number > 1000 else 0))
