"""Says a number; the submission counts down from it to 0, and each number is echoed.

Arguments: input, a file for what a checker may want to see, answer. Exit code 0: right, 1: wrong
answer, 2: presentation error, 3: the judge's own mistake.
"""

import sys


def finish(code: int, message: str) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)


def say(number: int) -> None:
    try:
        print(number, flush=True)
    except BrokenPipeError:
        finish(1, "the submission does not listen")


def main() -> None:
    with open(sys.argv[1]) as file, open(sys.argv[3]) as answer:
        start = int(file.read())
        if start != int(answer.read()):
            finish(3, "input and answer differ")
    say(start)
    for expected in range(start - 1, -1, -1):
        line = sys.stdin.buffer.readline(100).strip()
        if not line:
            finish(1, f"the end came before {expected}")
        if not line.isdigit():
            finish(2, "not a number")
        if int(line) != expected:
            finish(1, f"{int(line)} instead of {expected}")
        say(expected)
    with open(sys.argv[2], "w") as file:
        print("counted", start, file=file)
    finish(0, "counted down")


main()
