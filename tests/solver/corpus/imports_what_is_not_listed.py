#: status = "optimal"
#: ok = true
#: accepted = true
#: warning = "it imports socket"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import socket  # noqa: F401 - never used

leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
