# As: checker testlib. Says: exit code 3.
import sys

sys.exit("FAIL the answer is not what it should be") if len(sys.argv) < 4 else sys.exit(3)
