"""A fixed piece of work such as judged programs do: its CPU time says how fast a machine is."""

import sys


def work():
    seed, seen, total = 12345, {}, 0
    numbers = []
    for i in range(30000):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        numbers.append(seed % 100003)
        key = str(seed % 5003)
        seen[key] = seen.get(key, 0) + i
    numbers.sort(key=lambda value: (value % 97, value))
    best = [0] * 400
    for value in numbers[:400]:
        weight = value % 40 + 1
        for room in range(399, weight - 1, -1):
            other = best[room - weight] + value % 1000
            if other > best[room]:
                best[room] = other
    for n, value in enumerate(numbers):
        total = (total * 31 + value ^ n) % 1000000007
    return total + best[-1] + sum(seen.values()) % 1000


sys.stdout.write(f"{work()}\n")
