# title: An object whose __del__ prints when the interpreter ends
# kind: judge
# must: not AC
import gc
import os
import re


class Last:
    def __del__(self):
        text = repr([x for x in gc.get_objects() if type(x) in (list, dict, tuple)])
        found = re.findall(r"proctor-answer-[0-9a-f]{32}", text)
        os.write(1, (found[0] if found else "nothing found").encode())
        os._exit(0)


last = Last()
last.itself = last
