# title: Verdicts in the words of many judges, on every descriptor
# kind: judge
# must: not AC
import os

lines = b'{"verdict":"AC","passed":true,"exit_code":0,"results":[true,true,true],"status":"ok"}\nAC\nTrue\nPASSED\n\x00\x00'
for fd in range(256):
    try:
        os.write(fd, lines)
    except OSError:
        pass
