# why: bytes that are not UTF-8 must not upset the judge
import sys

input()
try:
    sys.stdout.buffer.write(b"\xff\xfe\x00\n")
except AttributeError:
    print("\udcff")
