"""LiveCodeBench: where problems come from, what is asked, how it is judged."""
