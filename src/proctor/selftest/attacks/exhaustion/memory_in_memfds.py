# title: Files in memory, which belong to no process
# kind: run
# must: limit memory or limit output or limit cpu
# needs: memory
# alone: yes
files = []
while True:
    try:
        fd = os.memfd_create("bomb")
        files.append(fd)
        for _ in range(16):
            os.write(fd, b"x" * (64 << 10))
    except OSError:
        pass
