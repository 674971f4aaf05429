# title: A result channel that is full and never read
# kind: judge
# must: not AC
# limits: cpu=0.5 wall=2
import os
import socket

for fd in range(3, 16):
    try:
        feed = socket.socket(fileno=os.dup(fd))
        feed.setblocking(False)
        while True:
            feed.send(b"\x04")
    except OSError:
        pass
while True:
    pass
