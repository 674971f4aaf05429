"""Python functions judged by Python test code that they never meet."""
