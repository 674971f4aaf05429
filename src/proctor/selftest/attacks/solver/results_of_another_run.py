# title: A solver that looks for what runs before it left, and leaves what would be taken for the next one's
# kind: solve
# must: held
import json
import os

there = sorted(os.listdir("."))
if there != ["attack.py", "input.json"]:
    print(f"through: another run left {there}"[:300])
for name in ("a", "result.json", "inc_1.json"):
    os.makedirs(f"{name}/b/c")
    with open(f"{name}/b/left.json", "w") as file:
        json.dump({"status": "OPTIMAL", "solution": ["left"]}, file)
    os.chmod(f"{name}/b", 0)
for place in ("..", "/tmp", "/box", "/dev/shm", "/var/tmp"):
    try:
        with open(f"{place}/result.json", "w") as file:
            json.dump({"status": "OPTIMAL", "solution": ["left"]}, file)
    except OSError:
        pass
