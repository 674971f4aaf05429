# why: a silent excepthook hides the traceback, not the exit code
import sys

sys.excepthook = lambda *exc: None
a, b = map(int, input().split())
print(a + b)
raise ValueError("hidden")
