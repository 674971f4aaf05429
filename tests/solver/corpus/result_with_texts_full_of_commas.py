#: status = "optimal"
#: accepted = true
import json

best = {"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": 2, "bound": 2}
with open("result.json", "w") as file:
    json.dump({**best, "notes": ',{[\\"' * 600_000}, file)
