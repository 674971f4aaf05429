#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_schema"
#: digest = "bins"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


leave("result.json", status="OPTIMAL", bins={"a": 1})
