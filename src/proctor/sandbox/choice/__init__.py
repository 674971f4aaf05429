"""Which level is used: what works here, proved, and what would help."""
