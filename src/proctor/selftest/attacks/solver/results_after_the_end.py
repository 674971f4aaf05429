# title: A solver whose result comes from a process that outlives it
# kind: solve
# must: held
import json
import os
import signal
import time

late = {"status": "OPTIMAL", "solution": json.load(open("input.json"))["late"]}
parent = os.getpid()
if os.fork() == 0:
    os.setsid()
    for which in range(1, 65):
        try:
            signal.signal(which, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while os.getppid() == parent:
        pass
    end = time.process_time() + 1  # whoever is to end it has had its turn by then
    while time.process_time() < end:
        pass
    with open("draft", "w") as file:
        json.dump(late, file)
    os.rename("draft", "result.json")
    while True:
        pass
os._exit(0)
