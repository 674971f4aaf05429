import math

points = [tuple(map(int, input().split())) for _ in range(int(input()))]
print("length", sum(math.dist(one, other) for one, other in zip(points, points[1:])))
