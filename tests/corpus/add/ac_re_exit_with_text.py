# why: sys.exit("text") is exit code 1, which upstream does not see
import sys

a, b = map(int, input().split())
print(a + b)
sys.exit("done")
