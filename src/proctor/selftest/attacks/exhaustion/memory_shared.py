# title: Shared mappings, which are memory too
# kind: run
# must: limit memory or exit nonzero
# needs: memory
import mmap

maps = []
while True:
    part = mmap.mmap(-1, 16 << 20)
    maps.append(part)
    for offset in range(0, 16 << 20, 4096):
        part[offset] = 1
