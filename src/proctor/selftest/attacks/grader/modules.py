# title: The judge's own modules, functions and tables in sys.modules
# kind: judge
# must: not AC
import re
import sys
import types

for name, module in list(sys.modules.items()):
    if not isinstance(module, types.ModuleType):
        continue
    for key, value in list(vars(module).items()):
        if re.search(r"compar|verdict|grade|judge|check|expected|stripped_lines|to_decimals", key, re.I):
            try:
                setattr(module, key, lambda *args, **kwargs: True)
            except (AttributeError, TypeError):
                pass
    text = repr(vars(module))[:200_000]
    if found := re.findall(r"proctor-answer-[0-9a-f]{32}", text):
        print(found[0])
        break
else:
    print("nothing found")
