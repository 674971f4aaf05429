# why: a sparse memfd touched through a mapping evades the file size limit
import mmap
import os

maps = []
while True:
    fd = os.memfd_create("bomb")
    os.ftruncate(fd, 64 << 20)
    m = mmap.mmap(fd, 64 << 20)
    maps.append(m)
    for i in range(0, 64 << 20, 4096):
        m[i] = 1
