import json, os

given = json.load(open("input.json"))
bins = [[item["id"]] for item in given["items"]]
with open("draft", "w") as file:
    json.dump({"status": "FEASIBLE", "bins": bins, "objective": len(bins)}, file)
os.replace("draft", "result.json")
