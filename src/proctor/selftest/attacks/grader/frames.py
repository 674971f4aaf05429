# title: The expected output in a frame: of a caller, another thread, a traceback, a running generator
# kind: judge
# must: not AC
import re
import sys
import threading

found, frame = [], sys._getframe()
while frame:
    if "gt_out" in frame.f_locals:
        found.append(str(frame.f_locals["gt_out"]))
    text = repr(list(frame.f_locals.values())) + repr(list(frame.f_globals.values()))
    found += re.findall(r"proctor-answer-[0-9a-f]{32}", text)
    frame = frame.f_back


def climb(frame):
    while frame:
        found.extend(re.findall(r"proctor-answer-[0-9a-f]{32}", repr(frame.f_locals)))
        frame = frame.f_back


def generate():
    climb(g.gi_frame)
    yield


g = generate()
next(g)
try:
    raise ValueError
except ValueError as error:
    climb(error.__traceback__.tb_frame)
for frame in sys._current_frames().values():
    climb(frame)
thread = threading.Thread(target=lambda: [climb(f) for f in sys._current_frames().values()])
thread.start()
thread.join()
print(found[0] if found else "nothing found")
