from math import hypot

points = [tuple(map(int, input().split())) for _ in range(int(input()))]
total = sum(hypot(x - a, y - b) for (x, y), (a, b) in zip(points, points[1:]))
print(f"\n  length   {total:.5e}  \n" if total > 1000 else f"length {total:.9f}")
