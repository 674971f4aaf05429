# why: a replaced __main__ and emptied sys.modules must hurt nobody but the program
import sys
import types

sys.modules["__main__"] = types.ModuleType("__main__")
for name in list(sys.modules):
    if name not in ("sys", "builtins"):
        sys.modules[name] = None
