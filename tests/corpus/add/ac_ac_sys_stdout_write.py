# why: sys.stdout.write() reaches the captured stream in both modes
import sys

a, b = map(int, input().split())
sys.stdout.write(f"{a + b}\n")
