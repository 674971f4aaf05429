#: status = "crashed"
#: ok = false
#: partial.valid = true
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
while True:
    print("x" * 1_000_000)
