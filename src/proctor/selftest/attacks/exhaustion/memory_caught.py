# title: Memory beyond the limit, catching every error on the way
# kind: run
# must: limit memory or limit cpu
# needs: memory
blocks = []
while True:
    try:
        while True:
            blocks.append(bytearray(b"x") * (4 << 20))
    except MemoryError:
        pass
