#: status = "optimal"
#: ok = true
#: accepted = true
#: marker = true
#: marker_count = 1
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


print("looking for a solution_found line")
leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
print("  Solution_Found ")
