#: status = "feasible"
#: status_detail = "incumbent"
#: ok = true
#: accepted = true
#: partial.valid = true
#: partial.objective = 2.0
#: partial.file = "inc_1.json"
#: warning = "the solution is inc_1.json"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

leave("inc_1.json", **BEST)
leave("inc_2.json", **WORSE)
leave("result.json", **WORSE)
