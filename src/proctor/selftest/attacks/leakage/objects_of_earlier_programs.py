# title: An earlier program's objects, modules and interpreter settings
# kind: pair
# must: held
import builtins
import gc
import string

text = bait["plant"]
builtins.left = string.left = sys.left = text
sys.modules["left"] = type(sys)("left")
sys.path.insert(0, text)
sys.argv.append(text)
os.environ["LEFT"] = text
sys.setrecursionlimit(123)
gc.callbacks.append(lambda *_: None)
# --- second ---
import builtins
import gc
import string

for owner in (builtins, string, sys):
    if hasattr(owner, "left"):
        found.append(f"in {owner.__name__}")
if "left" in sys.modules or PLANTED.search(repr((sys.path, sys.argv, dict(os.environ))).encode()):
    found.append("in the interpreter's lists")
if sys.getrecursionlimit() == 123 or gc.callbacks:
    found.append("in the interpreter's settings")
for thing in gc.get_objects():
    for part in [thing, *gc.get_referents(thing)]:
        if type(part) is str and part is not bait and PLANTED.search(part.encode("utf-8", "replace")):
            found.append("in a text object")
finish()
