#: timeout = 1
#: status = "timeout"
#: ok = true
#: partial.valid = true
#: partial.file = "result.json"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import time

try:
    time.sleep(1000)
except KeyboardInterrupt:
    leave("result.json", status="FEASIBLE", bins=[["a"], ["b"], ["c"]], objective=3, bound=2)
