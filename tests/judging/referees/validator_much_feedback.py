# As: checker kattis. Says: no number from 0 to 1.
import sys

with open(sys.argv[3] + "judgemessage.txt", "wb") as file:
    file.writelines(bytes(1 << 20) for _ in range(63))
open(sys.argv[3] + "score.txt", "w").write("infinite")
sys.exit(42)
