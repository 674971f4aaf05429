#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_refused"
#: digest = "link"
import os

os.symlink("input.json", "result.json")
