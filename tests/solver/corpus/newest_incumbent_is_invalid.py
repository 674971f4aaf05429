#: timeout = 1
#: status = "timeout"
#: ok = true
#: partial.valid = true
#: partial.file = "inc_1.json"
#: partial.objective = 3.0
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import time

leave("inc_1.json", status="FEASIBLE", bins=[["a"], ["b"], ["c"]], objective=3, bound=2)
leave("inc_2.json", status="OPTIMAL", bins=[["a", "b", "c"]], objective=1, bound=1)
time.sleep(1000)
