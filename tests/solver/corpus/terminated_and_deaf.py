#: timeout = 1
#: status = "timeout"
#: accepted = true
#: partial.file = "inc_1.json"
#: signal = 9
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

import signal
import time

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
leave("inc_1.json", **BEST)
while True:
    time.sleep(1000)
