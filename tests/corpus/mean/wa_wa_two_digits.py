# why: tolerance does not forgive an error in the third digit
n = int(input())
print(f"{sum(map(int, input().split())) / n:.2f}")
