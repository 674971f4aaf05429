# why: a from-imported stdout is not the stream upstream captures
from sys import stdout

a, b = map(int, input().split())
stdout.write(str(a + b))
