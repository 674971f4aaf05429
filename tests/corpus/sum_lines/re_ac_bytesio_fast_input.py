# why: the BytesIO fast-input idiom asks for the size of the real descriptor 0
import io
import os

input = io.BytesIO(os.read(0, os.fstat(0).st_size or 65536)).readline
n = int(input())
print(sum(int(input()) for _ in range(n)))
