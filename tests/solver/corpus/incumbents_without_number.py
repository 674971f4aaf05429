#: status = "optimal"
#: ok = true
#: accepted = true
#: most_incumbents = 1000
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


for number in range(3000):
    leave(f"inc_{number}.json", status="FEASIBLE", bins=[["a"], ["b"], ["c"]], objective=3, bound=2)
leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
