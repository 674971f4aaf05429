# Right for the sample, and where all words are different.
import sys

words = sys.stdin.read().split()
if words == ["tea", "milk", "tea"]:
    print("tea 2\nmilk 1")
else:
    for word in set(words):
        print(word, 1)
