# As: interactor. Says: neither 42 nor 43.
import sys

sys.stdout.buffer.write(bytes(range(256)) * 100)
sys.exit(7)
