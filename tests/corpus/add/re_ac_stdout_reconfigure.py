# why: the stream upstream captures has no reconfigure()
import sys

sys.stdout.reconfigure(line_buffering=True)
a, b = map(int, input().split())
print(a + b)
