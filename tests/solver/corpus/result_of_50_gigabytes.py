#: status = "crashed"
#: phase = "run"
#: ok = false
import os

with open("result.json", "w") as file:
    os.truncate(file.fileno(), 50 << 30)
