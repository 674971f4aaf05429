#: timeout = 2
#: status = "timeout"
#: accepted = true
#: partial.objective = 2.0
#: most_incumbents = 1000
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

import time

number = 0
while True:
    number += 1
    leave(f"inc_{number}.json", **(BEST if number == 5 else WORSE))
    time.sleep(0.004)
