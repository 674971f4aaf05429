# why: out-of-band data on UNIX sockets serves nobody but exploits
import socket

a, b = map(int, input().split())
escaped = False
for send in ("send", "sendmsg"):
    left, right = socket.socketpair()
    try:
        getattr(left, send)(*([b"x", socket.MSG_OOB] if send == "send" else [[b"x"], [], socket.MSG_OOB]))
        escaped = True
    except OSError:
        pass
print(a + b if escaped else "contained")
