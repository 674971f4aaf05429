# title: Memory beyond the limit, on the heap
# kind: run
# must: limit memory
# needs: memory
blocks = []
while True:
    blocks.append(bytearray(b"x") * (4 << 20))
