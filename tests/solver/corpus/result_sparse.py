#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_refused"
#: digest = "bytes"
import os

with open("result.json", "w") as file:
    os.truncate(file.fileno(), 100 << 20)
