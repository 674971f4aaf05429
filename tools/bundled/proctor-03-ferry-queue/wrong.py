import sys


def main():
    n, m, *times = map(int, sys.stdin.read().split())
    rate = sum(1 / t for t in times)
    print(round(n / rate))


main()
