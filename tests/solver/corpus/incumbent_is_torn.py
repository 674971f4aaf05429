#: timeout = 1
#: status = "timeout"
#: partial.valid = true
#: partial.file = "inc_1.json"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import time

leave("inc_1.json", status="FEASIBLE", bins=[["a"], ["b"], ["c"]], objective=3, bound=2)
with open("inc_2.json", "w") as file:
    file.write('{"status": "FEASIBLE", "bins": [["a"')
    file.flush()
    time.sleep(1000)
