#: timeout = 1
#: status = "timeout"
#: status_detail = "without_solution"
#: ok = false
#: partial.available = false
#: digest = "Execution timed out after 1s"
while True:
    pass
