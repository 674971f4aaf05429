# why: upstream takes os.getcwd() away
import os

os.path.abspath("x")
a, b = map(int, input().split())
print(a + b)
