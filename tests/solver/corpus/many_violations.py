#: status = "feasible"
#: accepted = false
#: warning = "breaks hard constraints"
import json

with open("result.json", "w") as file:
    json.dump({"status": "OPTIMAL", "bins": [[f"{n:x}" for n in range(400_000)]]}, file)
