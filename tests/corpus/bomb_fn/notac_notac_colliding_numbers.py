# why: numbers with equal hashes make a set quadratic to build, here and where it is decoded
def add(a, b):
    return {n * ((1 << 61) - 1) for n in range(1, 3000)}
