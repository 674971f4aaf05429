#: status = "crashed"
#: phase = "compile"
#: status_detail = "syntax"
#: digest = "SyntaxError"
def (:
