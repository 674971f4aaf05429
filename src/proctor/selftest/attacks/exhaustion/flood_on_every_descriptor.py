# title: A flood on every descriptor there is
# kind: run
# must: limit output or limit cpu
# limits: cpu=0.3
while True:
    for fd in range(256):
        try:
            os.write(fd, b"x" * 65536)
        except OSError:
            pass
