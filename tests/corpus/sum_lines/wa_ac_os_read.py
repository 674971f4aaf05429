# why: os.read(0) reads the real descriptor, which upstream leaves empty
import os

data = b""
while chunk := os.read(0, 65536):
    data += chunk
print(sum(map(int, data.split()[1:])))
