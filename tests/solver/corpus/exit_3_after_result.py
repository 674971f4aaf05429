#: status = "crashed"
#: phase = "run"
#: status_detail = "exit_code"
#: exit_code = 3
#: ok = false
#: partial.valid = true
#: partial.objective = 2.0
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import sys

leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
sys.exit(3)
