# why: sys.exit(None) and sys.exit(False) are exit code 0
import sys

a, b = map(int, input().split())
print(a + b)
sys.exit(None if a % 2 else False)
