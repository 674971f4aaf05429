#: status = "crashed"
#: status_detail = "exit_code"
#: digest = "line 23, in deep\nraise ValueError(\"the heart of the matter\")\nValueError: the heart of the matter"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

import sys


def deep(n):
    if n:
        return deep(n - 1) if n else "a line that is long enough for few of its kind to be shown, as lines of generated programs are, which add whole constraints of a model, with all of their coefficients, conditions and comprehensions, in one expression of some hundreds of letters"
    raise ValueError("the heart of the matter")


sys.stderr.write("noise " * 1000 + "\n")
print("SOLUTION_FOUND")
deep(30)
