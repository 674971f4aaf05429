# why: os.fdopen(0) reads the real descriptor, which upstream leaves empty
import os

data = os.fdopen(0).read().split()
print(sum(map(int, data[1:])))
