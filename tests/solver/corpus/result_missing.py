#: status = "crashed"
#: phase = "parse"
#: status_detail = "result_missing"
#: digest = "was not generated"
pass
