# title: A solver's result and incumbents that lead to a file of the host's with the right answer
# kind: solve
# must: held
import json
import os

given = json.load(open("input.json"))
right = given["right"]
for number, place in enumerate((right, f"/proc/self/root{right}", f"/proc/1/root{right}", "../../.." + right)):
    os.symlink(place, f"inc_{number}.json")
    try:
        os.link(place, f"inc_{number + 10}.json")
    except OSError:
        pass
os.mkdir("inc_5.json")
os.symlink(os.path.dirname(right), "inc_6.json")
os.symlink(right, "a")
os.symlink("a", "b")
os.symlink("b", "result.json")
