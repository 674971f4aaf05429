import sys


def main():
    n, m, *times = map(int, sys.stdin.read().split())
    low, high = 0, n * min(times)
    while low < high:
        minute = (low + high) // 2
        if sum(minute // t for t in times) >= n:
            high = minute
        else:
            low = minute + 1
    print(low)


main()
