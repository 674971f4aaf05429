# title: All memory in a single request
# kind: run
# must: limit memory or exit nonzero
# needs: memory
block = bytearray(1 << 36)
print(len(block))
