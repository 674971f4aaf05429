# why: results must not be writable from within the program
# upstream: AC (cheat) the result lists are proxies in a caller's frame
import os
import sys

frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if "Proxy" in type(value).__name__ and hasattr(value, "append"):
            value.append([True])
    frame = frame.f_back
os._exit(0)
