# The same once more, which takes it for granted that there is something to read.
import sys

number = int(open(sys.argv[1]).read())
while not (line := input()).startswith("!"):
    print(int(number < int(line)), flush=True)
sys.exit(42 if int(line[1:]) == number else 43)
