import sys
from pathlib import Path

answer = float(Path(sys.argv[2]).read_text())
try:
    error = abs(float(sys.stdin.read()) - answer)
except ValueError:
    sys.exit(43)
if error > 0.5:
    sys.exit(43)
Path(sys.argv[3], "score.txt").write_text("1" if error < 1e-6 else "0.5")
sys.exit(42)
