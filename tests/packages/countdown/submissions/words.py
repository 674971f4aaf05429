input()
print("two", flush=True)
