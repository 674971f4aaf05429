# As: checker score. Says: no score.
