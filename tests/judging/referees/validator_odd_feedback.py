# As: checker kattis. Says: neither 42 nor 43.
import os
import sys

place = sys.argv[3]
os.symlink("/etc/passwd", place + "teammessage.txt")
os.mkfifo(place + "judgemessage.txt")
os.mkdir(place + "score.txt")
with open(place + "huge", "wb") as file:
    file.truncate(1 << 40)
