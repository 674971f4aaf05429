#: status = "unknown"
#: ok = false
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


leave("result.json", status="UNKNOWN")
