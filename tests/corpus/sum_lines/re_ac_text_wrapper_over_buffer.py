# why: wrapping sys.stdin.buffer in a TextIOWrapper needs a real raw stream
import io
import sys

reader = io.TextIOWrapper(sys.stdin.buffer, encoding="ascii")
n = int(reader.readline())
print(sum(int(reader.readline()) for _ in range(n)))
