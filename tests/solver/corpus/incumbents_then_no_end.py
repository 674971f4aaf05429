#: timeout = 1
#: status = "timeout"
#: status_detail = "with_solution"
#: ok = true
#: accepted = true
#: partial.valid = true
#: partial.objective = 2.0
#: partial.file = "inc_2.json"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import time

leave("inc_1.json", status="FEASIBLE", bins=[["a"], ["b"], ["c"]], objective=3, bound=2)
leave("inc_2.json", status="FEASIBLE", bins=[["a", "c"], ["b"]], objective=2, bound=2)
time.sleep(1000)
