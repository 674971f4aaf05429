# Runs out of guesses. What happens to it once nobody listens is no matter: it ends in peace.
import os
import sys

try:
    for guess in range(1, 1001):
        print(guess, flush=True)
        if sys.stdin.readline().strip() in ("correct", ""):
            break
except BrokenPipeError:
    os._exit(0)
