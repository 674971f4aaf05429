# As: checker kattis. Says: no number from 0 to 1.
import sys

open(sys.argv[3] + "score.txt", "w").write("2")
sys.exit(42)
