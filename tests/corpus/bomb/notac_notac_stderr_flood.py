# why: stderr is bounded too
import sys

while True:
    sys.stderr.write("x" * 65536 + "\n")
