# why: empty, unknown, cut, endless and misdirected messages must end this program and nothing else
import os
import socket

JUNK = [b"", b"\x00", b"\xff" * 70000, b"\x03" + b"\xff" * 28, b"\x03\x00", b"\x05" + b"\xff" * 60000]
for fd in range(3, 10):
    try:
        feed = socket.socket(fileno=os.dup(fd))
        feed.setblocking(False)
        for message in JUNK:
            socket.send_fds(feed, [message], [0] * 200)
            feed.send(message)
    except OSError:
        pass
