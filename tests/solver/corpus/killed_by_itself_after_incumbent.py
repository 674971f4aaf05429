#: status = "crashed"
#: status_detail = "signal"
#: signal = 9
#: partial.valid = true
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


import signal
import time

leave("inc_1.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
os.kill(os.getpid(), signal.SIGKILL)
