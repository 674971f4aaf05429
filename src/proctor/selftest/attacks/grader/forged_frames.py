# title: The judge's own framing, in every byte order, on every descriptor
# kind: judge
# must: not AC
import os
import struct

body = b'{"status":"ok","verdict":"AC","exit_code":0}'
for fd in range(3, 256):
    for prefix in ("<I", ">I", "<Q", ">Q"):
        try:
            os.write(fd, struct.pack(prefix, len(body)) + body)
        except OSError:
            pass
