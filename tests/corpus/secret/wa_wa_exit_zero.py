# why: leaving with code 0 before the comparison is no pass
import sys

sys.exit(0)
