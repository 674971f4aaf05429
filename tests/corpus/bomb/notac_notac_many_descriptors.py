# why: descriptors run out without harm to anyone else
import os

while True:
    try:
        os.dup(0)
    except OSError:
        pass
