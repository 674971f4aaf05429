#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_refused"
#: digest = "regular"
import os

os.mkdir("result.json")
