"""Scores of tests are parts of what the group is worth; the outermost group has no samples."""

import sys

lines = [line.split() for line in sys.stdin]
failed = next((verdict for verdict, _ in lines if verdict != "AC"), None)
scores = [float(score) for _, score in lines]
(flag,) = sys.argv[1:]
if flag == "outermost":
    print(lines[-1][0], min(scores[-1], 100.0))
elif failed:
    print(failed, 0)
else:
    print("AC", min(scores) * float(flag.removeprefix("worth=")))
