import os

print("ask", flush=True)
phase, word = input().split()
if phase == "hide":
    print("!", format(int(word), "0{{longest}}b").replace("0", "a").replace("1", "b"))
else:
    place = "key.txt" if os.path.exists("key.txt") else "deep/key.txt"
    with open(place) as file:
        key = int(file.read())
    print("!", int(word.replace("a", "0").replace("b", "1"), 2) ^ key)
