# title: The expected output among all objects of the garbage collector
# kind: judge
# must: not AC
import gc
import re

found = []
for x in gc.get_objects():
    for y in [x, *gc.get_referents(x)]:
        if type(y) is str:
            found += re.findall(r"proctor-answer-[0-9a-f]{32}", y)
        elif type(y) in (bytes, bytearray):
            found += [b.decode() for b in re.findall(rb"proctor-answer-[0-9a-f]{32}", y)]
print(found[0] if found else "nothing found")
