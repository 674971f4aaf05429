"""Benchmarks that ask for a Python function: HumanEval(+) and MBPP."""
