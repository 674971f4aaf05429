# The same, which asks for ever and does not expect to be hung up on.
import sys

number = int(open(sys.argv[1]).read())
for line in sys.stdin:
    if line.startswith("!"):
        sys.exit(42 if int(line[1:]) == number else 43)
    print(int(number < int(line)), flush=True)
sys.exit(43)
