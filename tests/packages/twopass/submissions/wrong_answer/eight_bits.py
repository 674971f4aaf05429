# Right for numbers below 256: the second pass of the last test is wrong.
what, word = input().split()
if what == "hide":
    print(f"{int(word) % 256:08b}".replace("0", "a").replace("1", "b"))
else:
    print(int(word.replace("a", "0").replace("b", "1"), 2))
