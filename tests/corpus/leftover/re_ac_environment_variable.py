# why: a changed environment is gone with its process; upstream takes away what changes it
# fast: wa
import os

a, b = map(int, input().split())
dirty = "PROCTOR_LEFTOVER" in os.environ
os.environ["PROCTOR_LEFTOVER"] = "1"
print("dirty" if dirty else a + b)
