#: marker = true
#: status = "crashed"
#: status_detail = "exit_code"
#: error_digest = "the program ended with exit code 3"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

print("SOLUTION_FOUND")
raise SystemExit(3)
