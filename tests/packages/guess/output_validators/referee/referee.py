"""Knows the number, answers at most ten guesses."""

import sys

GUESSES = 10


def finish(code: int, message: str) -> None:
    with open(sys.argv[3] + "judgemessage.txt", "w") as file:
        file.write(message + "\n")
    sys.exit(code)


def say(word: str) -> None:
    try:
        print(word, flush=True)
    except BrokenPipeError:
        finish(43, "the submission does not listen")


def main() -> None:
    with open(sys.argv[1]) as file:
        secret = int(file.read())
    for _ in range(GUESSES):
        line = sys.stdin.buffer.readline(100).strip()
        if not line.isdigit() or not 1 <= int(line) <= 1000:
            finish(43, "that is no guess")
        guess = int(line)
        if guess == secret:
            say("correct")
            if sys.stdin.buffer.read(1):
                finish(43, "it goes on after the right guess")
            finish(42, "right")
        say("lower" if guess > secret else "higher")
    finish(43, "too many guesses")


main()
