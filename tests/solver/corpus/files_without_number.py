#: status = "crashed"
#: status_detail = "exit_code"
#: partial.valid = true
#: most_incumbents = 400
import json
import os

with open("draft", "w") as file:
    json.dump({"status": "FEASIBLE", "bins": [["a", "c"], ["b"]]}, file)
os.rename("draft", "result.json")
for number in range(20_000):
    os.close(os.open(f"inc_{number}.json", os.O_CREAT | os.O_WRONLY))
raise SystemExit(3)
