# why: print(file=stdout) with a from-imported stdout is lost upstream
from sys import stdout

a, b = map(int, input().split())
print(a + b, file=stdout)
