print("ask", flush=True)
phase, word = input().split()
if phase == "hide":
    print("!", format(int(word), "010b").replace("0", "a").replace("1", "b"))
else:
    print("!", int(word.replace("a", "0").replace("b", "1"), 2))
