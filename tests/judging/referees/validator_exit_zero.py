# As: checker kattis. Says: neither 42 nor 43.
