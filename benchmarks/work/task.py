"""The task of run_latency: three lines that read two lines and print one."""

PROGRAM = """n = int(input())
total = sum(int(x) for x in input().split())
print(n + total)
"""
STDIN = "3\n1 2 3\n"
STDOUT = "9\n"

# What a cell imports before its first job (proctor.sandbox.backend.WARM_IMPORTS): a bare fork
# of a smaller process would be cheaper, and no fair measure.
WARM_IMPORTS = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random",
    "statistics", "itertools", "functools", "operator", "io", "sys", "json", "typing",
    "decimal", "fractions", "threading", "array", "queue", "traceback", "linecache",
)  # fmt: skip

# The same sum as a function, for graders that call one.
FUNCTION = """def total(n, numbers):
    return n + sum(numbers)
"""
