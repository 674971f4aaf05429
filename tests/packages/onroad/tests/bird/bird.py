import math

points = [tuple(map(int, input().split())) for _ in range(int(input()))]
print("length", math.dist(points[0], points[-1]))
