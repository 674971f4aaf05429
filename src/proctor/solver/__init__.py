"""Generated optimisation programs: run under a result contract, what they claim validated."""
