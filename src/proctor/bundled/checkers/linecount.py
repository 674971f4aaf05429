"""DMOJ's linecount: the share of the answer's lines that the output has right, in their places.

Called with input, answer, output; prints a score from 0 to 1, and on stderr a mark per line.
"""

import sys


def lines(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        text = file.read().replace(b"\r", b"\n")
    return [line for line in text.split(b"\n") if line]


wanted, got = lines(sys.argv[2]), lines(sys.argv[3])
if len(got) > len(wanted):
    print(0)
    sys.stderr.write("there are more lines than expected")
elif not wanted:
    print(1)
else:
    right = [one.strip() == other.strip() for one, other in zip(got, wanted)]
    right += [False] * (len(wanted) - len(got))
    print(sum(right) / len(wanted))
    sys.stderr.write("".join("+" if each else "-" for each in right[:200]))
