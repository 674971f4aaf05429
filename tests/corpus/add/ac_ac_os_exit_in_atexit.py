# why: an exit handler that ends the process at once, after the answer is out
import atexit
import os
import sys

a, b = map(int, input().split())
print(a + b)
sys.stdout.flush()
atexit.register(os._exit, 0)
