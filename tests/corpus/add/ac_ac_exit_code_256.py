# why: exit code 256 wraps to 0, which is what the operating system reports
import sys

a, b = map(int, input().split())
print(a + b)
sys.exit(256)
