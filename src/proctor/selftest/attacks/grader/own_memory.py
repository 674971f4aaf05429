# title: The expected output in the process's own memory, freed memory included
# kind: judge
# must: not AC
# limits: cpu=4 memory=256M
import os
import re

PATTERN = re.compile(rb"proctor-answer-[0-9a-f]{32}")
found = []
try:
    mem = os.open("/proc/self/mem", os.O_RDONLY)
    with open("/proc/self/maps") as maps:
        ranges = re.findall(r"^(\w+)-(\w+) r", maps.read(), re.M)
    for low, high in ranges:
        try:
            found += PATTERN.findall(os.pread(mem, min(int(high, 16) - int(low, 16), 1 << 26), int(low, 16)))
        except (OSError, OverflowError):
            pass
except OSError:
    pass
print(found[0].decode() if found else "nothing found")
