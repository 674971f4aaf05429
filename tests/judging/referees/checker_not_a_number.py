# As: checker score. Says: no score.
print("nan")
