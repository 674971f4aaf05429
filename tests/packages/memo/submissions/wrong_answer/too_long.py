print("ask", flush=True)
phase, word = input().split()
print("!", "a" * 11)
