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

leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
time.sleep(1000)
