# As: manager. Says: no score.
print("inf")
