"""Generated optimisation programs, run under a result contract, and validation of their claims."""
