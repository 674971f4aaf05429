#: timeout = 1
#: status = "timeout"
#: accepted = true
#: partial.file = "inc_1.json"
#: partial.objective = 2.0
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

import time

leave("inc_1.json", **BEST | {"objective": 5})
leave("inc_2.json", **WORSE | {"objective": 1})
time.sleep(1000)
