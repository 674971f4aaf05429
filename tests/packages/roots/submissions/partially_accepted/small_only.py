# @EXPECTED_SCORE@: 40
number = float(input())
print(number**0.5 if number < 1000 else "none")
