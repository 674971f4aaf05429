# Testlib's convention: arguments input, output, answer; right is 0, wrong is 1.
import sys

output, answer = (open(name).read().split() for name in sys.argv[2:4])
sys.exit(0 if output == answer else 1)
