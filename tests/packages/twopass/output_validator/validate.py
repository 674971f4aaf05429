"""First pass: checks the word and asks for the second. Second pass: compares the number."""

import os
import sys

FEEDBACK = sys.argv[3]
STATE = FEEDBACK + "secret_of_first_pass"


def finish(code: int, message: str) -> None:
    with open(FEEDBACK + "judgemessage.txt", "a") as file:
        file.write(message + "\n")
    sys.exit(code)


def main() -> None:
    with open(sys.argv[1]) as file:
        given = file.read().split()
    words = sys.stdin.buffer.read(1000).split()
    if len(words) != 1:
        finish(43, "not one word")
    word = words[0]
    if os.path.exists(STATE):
        # The input is now that of the second pass: the secret was kept.
        if given[0] != "find":
            sys.exit(1)
        with open(STATE) as file:
            secret = file.read()
        finish(42 if word == secret.encode() else 43, "second pass")
    if len(word) > 12 or word.strip(b"ab"):
        finish(43, "not a word of a and b")
    with open(STATE, "w") as file:
        file.write(given[1])
    with open(FEEDBACK + "nextpass.in", "wb") as file:
        file.write(b"find " + word + b"\n")
    finish(42, "first pass")


main()
