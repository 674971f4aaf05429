import sys
from pathlib import Path

wanted = int(Path(sys.argv[1]).read_text())
try:
    a, b = map(int, sys.stdin.read().split())
except ValueError:
    sys.exit(43)
right = min(a, b) > 0 and a + b == wanted
Path(sys.argv[3], "judgemessage.txt").write_text(f"{a} and {b}")
sys.exit(42 if right else 43)
