# why: upstream's read() never reaches the end of input; with a real stdin the second read is empty
import sys

n = int(sys.stdin.read().split()[0])
rest = sys.stdin.read().split()[1:]
print(sum(map(int, rest[:n])))
