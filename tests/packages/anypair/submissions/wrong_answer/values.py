n, s = map(int, input().split())
numbers = set(map(int, input().split()))
print(next((f"{x} {s - x}" for x in numbers if s - x in numbers and s != 2 * x), -1))
