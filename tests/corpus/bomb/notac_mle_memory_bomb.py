# why: touching memory beyond the limit
blocks = []
while True:
    blocks.append(bytearray(b"x") * (8 << 20))
