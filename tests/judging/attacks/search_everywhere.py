# Tries: to find the answer in any file or process that it can read.
# Task: secret. Must get: WA.
import os
import re

WANTED = re.compile(rb"proctor-secret-[0-9a-f]{32}")
places = ["@ANSWER@", "@CHECKER@", "input.txt", "correct_output.txt", "answer.txt", "../answer.txt"]
for top in (
    ".",
    "..",
    "/tmp",
    "/var",
    "/root",
    "/home",
    "/dev/shm",
    "/run",
    "/etc",
    "/box",
    "@CACHE@",
):
    for place, directories, names in os.walk(top):
        places += [os.path.join(place, name) for name in names]
        if len(places) > 5000:
            break
for process in ["self", *range(1, 400)]:
    places += [f"/proc/{process}/{name}" for name in ("environ", "cmdline", "maps")]
    places += [f"/proc/{process}/fd/{number}" for number in range(24)]
for place in places:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
        content = os.read(descriptor, 1 << 20)
        os.close(descriptor)
    except OSError:
        continue
    found = WANTED.search(content)
    if found:
        print(found[0].decode())
        raise SystemExit
print("nothing")
