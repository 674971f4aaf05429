what, word = input().split()
if what == "find":
    raise RuntimeError
print("ab")
