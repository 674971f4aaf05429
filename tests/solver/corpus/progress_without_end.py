#: status = "timeout"
#: accepted = true
#: partial.valid = true
#: timeout = 2
import json
import os

with open("draft", "w") as file:
    json.dump({"status": "FEASIBLE", "bins": [["a", "c"], ["b"]]}, file)
os.rename("draft", "inc_1.json")
noise = b"\n" * 65536
while True:
    os.write(3, noise)
