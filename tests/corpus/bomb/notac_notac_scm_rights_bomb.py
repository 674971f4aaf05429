# why: descriptors in flight inside descriptors in flight
import os
import socket

pairs = []
while True:
    try:
        a, b = socket.socketpair()
        socket.send_fds(a, [b"x"], [a.fileno(), b.fileno()] + [p.fileno() for p in pairs[-8:]])
        pairs += [a]
        os.close(b.detach())
    except OSError:
        pass
