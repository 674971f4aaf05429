#: status = "crashed"
#: status_detail = "result_missing"
#: ok = false
#: partial.valid = true
#: partial.objective = 2.0
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

leave("inc_1.json", **BEST)
