#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_refused"
#: digest = "link"
import os

os.symlink("/etc/passwd", "result.json")
