# why: to print this result in a message takes more digits than Python converts
def add(a, b):
    return {(1 << 20000,): [1 << 20000, frozenset([1 << 20000])]}
