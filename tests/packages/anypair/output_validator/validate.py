"""Accepts any two positions whose numbers have the sum asked for."""

import sys


def finish(code: int, message: str) -> None:
    with open(sys.argv[3] + "judgemessage.txt", "a") as file:
        file.write(message + "\n")
    sys.exit(code)


def main() -> None:
    with open(sys.argv[1]) as file:
        n, s, *numbers = map(int, file.read().split())
    with open(sys.argv[2]) as file:
        possible = file.read().split() != ["-1"]
    # Unbounded numbers and lines would be the submission's to choose.
    words = sys.stdin.buffer.read(1000).split()
    try:
        given = [int(word) for word in words if len(word) < 10]
    except ValueError:
        finish(43, "not integers")
    if given == [-1] and len(words) == 1:
        finish(43 if possible else 42, "says there is none")
    if len(words) != 2 or len(given) != 2:
        finish(43, "not two integers")
    first, second = given
    if not (1 <= first <= n and 1 <= second <= n) or first == second:
        finish(43, "not two positions")
    if numbers[first - 1] + numbers[second - 1] != s:
        finish(43, "the sum is another")
    if not possible:
        # The judge's own answer is wrong: neither 42 nor 43.
        finish(1, "there is a pair after all")
    finish(42, "right")


main()
