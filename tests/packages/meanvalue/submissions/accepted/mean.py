n = int(input())
# Exponents are numbers too.
print(f"{sum(map(int, input().split())) / n:.12e}")
