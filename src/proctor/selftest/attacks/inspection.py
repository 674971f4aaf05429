# Run before and after each attack: a right answer to a question, and what a job finds in the box.
import json
import os

question = json.loads(input())
places = {}
for place in (".", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", os.environ.get("HOME", "/")):
    try:
        places[place] = sorted(os.listdir(place))
    except OSError:
        pass
try:
    os.kill(-1, 0)
    others = True  # or without a PID namespace, where it succeeds whatever it meets
except OSError:
    others = False
uid = os.getuid()
try:
    with open("/proc/self/uid_map") as ranges:
        for inside, outside, count in (map(int, line.split()) for line in ranges):
            if inside <= os.getuid() < inside + count:
                uid = outside + os.getuid() - inside
except OSError:
    pass
niceness = os.getpriority(os.PRIO_PROCESS, 0)
print(json.dumps({"answer": question * 7, "uid": uid, "places": places, "others": others, "niceness": niceness}))
