# As: checker score. Says: exit code 1.
print("1.0")
raise RuntimeError("the author made a mistake")
