what, word = input().split()
print("a" * 13 if what == "hide" else 5)
