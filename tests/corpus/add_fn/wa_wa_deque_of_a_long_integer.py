# why: to print this result in a message takes more digits than Python converts
from collections import deque


def add(a, b):
    return deque([1 << 20000])
