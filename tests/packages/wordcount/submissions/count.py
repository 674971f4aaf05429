import sys
from collections import Counter

for word, times in Counter(sys.stdin.read().split()).most_common():
    print(word, times)
