# Tries: to replace the checker, and whatever else of the judge it can write.
# Task: checked. Must get: WA.
import os

ACCEPT = b"#!/bin/sh\nexit 0\n"
names = (
    "checker",
    "checker/checker",
    "../checker",
    "answer.txt",
    "../answer.txt",
    "@CHECKER@",
    "@ANSWER@",
)
for name in names:
    try:
        with open(name, "wb") as file:
            file.write(ACCEPT)
        os.chmod(name, 0o755)
    except OSError:
        pass
print("nothing")
