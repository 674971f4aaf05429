# why: the same digits are right in both modes
n = int(input())
print(f"{sum(map(int, input().split())) / n:.10f}")
