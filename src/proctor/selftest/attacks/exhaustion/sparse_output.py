# title: Output made large by seeking
# kind: run
# must: any end
for fd in (1, 2):
    try:
        os.lseek(fd, 1 << 40, 0)
        os.write(fd, b"x")
    except OSError:
        pass
    try:
        os.ftruncate(fd, 1 << 40)
    except OSError:
        pass
