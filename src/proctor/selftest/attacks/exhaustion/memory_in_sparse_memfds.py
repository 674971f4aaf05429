# title: Sparse files in memory, touched through mappings only
# kind: run
# must: limit memory or exit nonzero or signal
# needs: memory
# limits: output=8M
# alone: yes
import mmap

kept = []
while True:
    fd = os.memfd_create("bomb")
    os.ftruncate(fd, 8 << 20)
    part = mmap.mmap(fd, 8 << 20)
    os.close(fd)
    kept.append(part)
    for offset in range(0, 8 << 20, 4096):
        part[offset] = 1
