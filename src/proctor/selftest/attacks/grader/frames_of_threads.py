# title: Frames of other threads, of a traceback and of a running generator
# kind: judge
# must: not AC
import re
import sys
import threading

found = []


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
