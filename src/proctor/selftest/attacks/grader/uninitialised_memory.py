# title: What malloc hands out again without clearing it
# kind: judge
# must: not AC
import ctypes
import re

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
found = []
for size in list(range(64, 8192, 48)) * 6:
    found += re.findall(rb"proctor-answer-[0-9a-f]{32}", ctypes.string_at(libc.malloc(size), size))
print(found[0].decode() if found else "nothing found")
