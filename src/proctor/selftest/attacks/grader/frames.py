# title: The expected output in a frame of whoever called the program
# kind: judge
# must: not AC
import re
import sys

found, frame = [], sys._getframe()
while frame:
    if "gt_out" in frame.f_locals:
        found.append(str(frame.f_locals["gt_out"]))
    text = repr(list(frame.f_locals.values())) + repr(list(frame.f_globals.values()))
    found += re.findall(r"proctor-answer-[0-9a-f]{32}", text)
    frame = frame.f_back
print(found[0] if found else "nothing found")
