# why: catching MemoryError and trying again must end somewhere
blocks = []
while True:
    try:
        while True:
            blocks.append(bytearray(b"x") * (8 << 20))
    except MemoryError:
        pass
