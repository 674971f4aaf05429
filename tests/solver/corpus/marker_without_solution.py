#: status = "infeasible"
#: marker = true
#: warning = "SOLUTION_FOUND without"
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


leave("result.json", status="INFEASIBLE")
print("SOLUTION_FOUND")
