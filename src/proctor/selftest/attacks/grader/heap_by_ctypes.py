# title: The heap around every object, read without asking the kernel
# kind: judge
# must: not AC
# limits: cpu=4 memory=128M
import ctypes
import gc
import re

PATTERN = re.compile(rb"proctor-answer-[0-9a-f]{32}")
pages = {id(x) & ~4095 for x in gc.get_objects()}
pages |= {id(y) & ~4095 for x in gc.get_objects() for y in gc.get_referents(x)}
found = []
for page in pages:
    found += PATTERN.findall(ctypes.string_at(page, 4096))
print(found[0].decode() if found else "nothing found")
