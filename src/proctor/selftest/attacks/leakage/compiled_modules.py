# title: A module that an earlier program left to be imported
# kind: pair
# must: held
import json

places = {*sys.path, ".", "/tmp", os.path.dirname(os.__file__), os.path.dirname(json.__file__), os.path.expanduser("~/.local")}
for place in places:
    for name in ("proctor_left.py", "usercustomize.py", "sitecustomize.py", "__pycache__/proctor_left.pyc"):
        try:
            with open(os.path.join(place, name), "x") as file:
                file.write("left = True\n")
        except OSError:
            pass
# --- second ---
sys.path[:0] = ["/tmp", "."]
attempt("the module was imported", __import__, "proctor_left")
finish()
