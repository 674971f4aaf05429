#: status = "feasible"
#: status_detail = "incumbent"
#: ok = true
#: accepted = true
#: partial.valid = true
#: partial.objective = 2.0
#: partial.file = "inc_1.json"
#: warning = "the solution is inc_1.json"
#: digest = "base_overfull: 1 violation: bin 0 holds 15"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

leave("inc_1.json", **BEST)
leave("result.json", status="OPTIMAL", bins=[["a", "b", "c"]], objective=1)
