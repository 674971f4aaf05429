import sys

from mirror import mirror

with open(sys.argv[1]) as given, open(sys.argv[2], "w") as answers:
    for line in iter(given.readline, "0\n"):
        print(mirror(int(line)), file=answers, flush=True)
