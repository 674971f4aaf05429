#: status = "crashed"
#: phase = "parse"
#: status_detail = "marker_count"
#: marker_count = 2
#: marker = true
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
print("SOLUTION_FOUND")
for _ in range(100_000):
    print("far more than is shown")
print("SOLUTION_FOUND")
