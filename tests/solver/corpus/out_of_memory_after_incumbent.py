#: status = "crashed"
#: status_detail = "oom"
#: oom = true
#: partial.valid = true
#: memory = "256M"
#: levels = ["namespaces", "landlock"]
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


leave("inc_1.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
held = []
while True:
    held.append(bytearray(os.urandom(1 << 20)))
