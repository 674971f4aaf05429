# why: a pattern that backtracks for ever is C code too
import re

print(re.match(r"(a|aa)+$", "a" * 200 + "b"))
