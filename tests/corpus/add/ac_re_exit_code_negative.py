# why: exit code -1 is 255 to the operating system
import sys

a, b = map(int, input().split())
print(a + b)
sys.exit(-1)
