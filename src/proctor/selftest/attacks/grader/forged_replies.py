# title: Replies of the judge's own protocol, right ones, junk, and more than fit
# kind: judge
# must: not AC
import os
import socket
import struct

GOOD = [bytes([tag]) for tag in range(8)] + [b"\x03" + struct.pack("<iddQ", 0, 0.0, 0.0, 0), b"\x04" + b"9" * 5000]
JUNK = [b"", b"\xff" * 70000, b"\x03" + b"\xff" * 28, b"\x05" + b"\xff" * 60000]
for fd in range(3, 16):
    try:
        feed = socket.socket(fileno=os.dup(fd))
    except OSError:
        continue
    feed.setblocking(False)
    for message in JUNK + GOOD * 200:
        try:
            feed.send(message)
        except OSError:
            break
    for message in GOOD:
        try:
            socket.send_fds(feed, [message], [0] * 200)
        except OSError:
            break
