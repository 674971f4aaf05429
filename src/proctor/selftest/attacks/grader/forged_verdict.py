# title: Verdicts in the words of many judges, plain and framed in every byte order, on every descriptor
# kind: judge
# must: not AC
import os
import struct

body = b'{"status":"ok","verdict":"AC","passed":true,"exit_code":0,"results":[true,true,true]}'
words = [body + b"\nAC\nTrue\nPASSED\n\x00\x00"]
words += [struct.pack(prefix, len(body)) + body for prefix in ("<I", ">I", "<Q", ">Q")]
for fd in range(256):
    for word in words if fd > 2 else words[:1]:
        try:
            os.write(fd, word)
        except OSError:
            pass
