# title: Memory beyond the limit, on the heap, in large blocks and small objects
# kind: run
# must: limit memory
# needs: memory
blocks, values = [], []
while True:
    blocks.append(bytearray(b"x") * (4 << 20))
    values.extend([[] for _ in range(10_000)])
