# why: unread messages on socket pairs are kernel memory
import socket

pairs = []
while True:
    try:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        pairs.append((a, b))
        a.setblocking(False)
        while True:
            a.send(b"x" * 60000)
    except OSError:
        pass
