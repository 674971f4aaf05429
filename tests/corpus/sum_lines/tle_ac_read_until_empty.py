# why: upstream's read() never returns the empty string that ends this loop
import sys

text = ""
while True:
    chunk = sys.stdin.read()
    if chunk == "":
        break
    text = chunk
print(sum(map(int, text.split()[1:])))
