#: timeout = 1
#: status = "timeout"
#: accepted = true
#: partial.file = "result.json"
#: exit_code = 0
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


BEST = {"status": "FEASIBLE", "bins": [["a", "c"], ["b"]], "objective": 2}
WORSE = {"status": "FEASIBLE", "bins": [["a"], ["b"], ["c"]], "objective": 3}

import signal
import sys
import time


def save(*_):
    leave("result.json", **BEST)
    sys.exit()


signal.signal(signal.SIGTERM, save)
time.sleep(1000)
