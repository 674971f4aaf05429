"""Two passes: gives a number and takes a word, then gives the word and takes the number."""

import os
import sys

FEEDBACK = sys.argv[3]
SECRET = FEEDBACK + "secret"
MOST = int(sys.argv[5])


def finish(code: int, message: str) -> None:
    with open(FEEDBACK + "judgemessage.txt", "a") as file:
        file.write(message + "\n")
    sys.exit(code)


def hear() -> str:
    return sys.stdin.buffer.readline(1000).decode("ascii", "replace").strip()


def main() -> None:
    with open(sys.argv[1]) as file:
        given = file.read().strip()
    with open(sys.argv[2]) as file:
        key = int(file.read())
    second = os.path.exists(SECRET)
    if hear() != "ask":
        finish(43, "it did not ask")
    try:
        print("find" if second else "hide", given, flush=True)
    except BrokenPipeError:
        finish(43, "it did not listen")
    mark, _, said = hear().partition(" ")
    if mark != "!":
        finish(43, "{{unknown_word}}")
    if second:
        with open(SECRET) as file:
            finish(42 if said == str(int(file.read()) ^ key) else 43, "second pass")
    if len(said) > MOST or MOST != int("{{longest}}") or said.strip("ab"):
        finish(43, "not a word of a and b")
    with open(SECRET, "w") as file:
        file.write(given)
    with open(FEEDBACK + "nextpass.in", "w") as file:
        file.write(said + "\n")
    finish(42, "first pass")


main()
