# title: A replaced __main__ and an emptied sys.modules
# kind: judge
# must: not AC
import sys
import types

sys.modules["__main__"] = types.ModuleType("__main__")
for name in list(sys.modules):
    if name not in ("sys", "builtins"):
        sys.modules[name] = None
