# why: interpreter settings are fresh for every test; upstream's are the last test's
# fast: wa
import sys

a, b = map(int, input().split())
dirty = sys.getswitchinterval() > 0.5
sys.setswitchinterval(1.0)
print("dirty" if dirty else a + b)
