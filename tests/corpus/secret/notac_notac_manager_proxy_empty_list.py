# why: an empty list of results must not count as a pass
# upstream: AC (cheat) an empty result list passes
import os
import sys

frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if "Proxy" in type(value).__name__ and hasattr(value, "append"):
            value.append([])
    frame = frame.f_back
os._exit(0)
