# Tries: to put something into the directories of compiled programs and of precompiled headers.
# Task: secret. Must get: WA.
import os

for top in ("@CACHE@/headers", "@CACHE@/compiled", "@CACHE@"):
    for place, directories, names in os.walk(top, topdown=True):
        for path in [os.path.join(place, name) for name in ("poison", *names)]:
            try:
                with open(path, "ab") as file:
                    file.write(b"poison")
            except OSError:
                pass
    for path in (top + "/poison", top + "/bits/poison"):
        try:
            os.makedirs(path)
        except OSError:
            pass
print("nothing")
