# title: A solver that swaps its result and incumbents for links while the host reads them
# kind: solve
# must: held
import json
import os
import time

given = json.load(open("input.json"))
with open("plain", "w") as file:
    json.dump({"status": "FEASIBLE", "solution": given["allowed"]}, file)
end = time.process_time() + 0.2
while time.process_time() < end:
    for name in ("inc_1.json", "inc_2.json", "result.json"):
        os.symlink(given["right"], "link")
        os.rename("link", name)
        os.link("plain", "copy")
        os.rename("copy", name)
    with open("plain", "r+") as file:  # in place: what has been read may change
        json.dump({"status": "OPTIMAL", "solution": [str(time.process_time())]}, file)
        file.truncate()
os.symlink(given["right"], "link")
os.rename("link", "result.json")
