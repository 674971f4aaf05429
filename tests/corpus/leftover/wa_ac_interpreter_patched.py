# why: a patched standard library is gone with its process; upstream keeps one process for all tests
# fast: wa
import string

a, b = map(int, input().split())
dirty = string.digits != "0123456789"
string.digits = "none"
print("dirty" if dirty else a + b)
