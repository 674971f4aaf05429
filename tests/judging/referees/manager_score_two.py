# As: manager. Says: no score.
print(2)
