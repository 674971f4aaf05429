# why: anonymous shared mappings are memory too
import mmap

maps = []
while True:
    m = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE)
    maps.append(m)
    for i in range(0, 1 << 30, 4096):
        m[i] = 1
