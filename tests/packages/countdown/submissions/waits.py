# Both sides wait for the other: nobody computes.
input()
input()
