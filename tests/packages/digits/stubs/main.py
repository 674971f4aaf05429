import sys

from digits import digit_sum

if __name__ == "__main__":
    for word in sys.stdin.read().split()[1:]:
        print(digit_sum(int(word)))
