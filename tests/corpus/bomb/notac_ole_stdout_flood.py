# why: output beyond the limit is a verdict of its own
import sys

while True:
    sys.stdout.write("x" * 65536 + "\n")
