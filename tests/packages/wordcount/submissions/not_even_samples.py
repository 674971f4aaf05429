# Right but for the samples, on which everything else depends.
import sys

words = sys.stdin.read().split()
if words != ["tea", "milk", "tea"]:
    for word in set(words):
        print(word, words.count(word))
