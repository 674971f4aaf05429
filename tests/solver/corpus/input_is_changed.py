#: ok = true
#: accepted = false
#: status = "feasible"
#: warning = "hard constraints"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


with open("input.json", "w") as file:
    json.dump({"capacity": 100, "items": []}, file)
leave("result.json", status="OPTIMAL", bins=[["a", "b", "c"]], objective=1, bound=1)
