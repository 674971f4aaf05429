# why: an inherited socket could carry the program's descriptors to the agent, or the agent's here
import os
import socket
import stat

a, b = map(int, input().split())
escaped = False
for fd in range(256):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            s = socket.socket(fileno=os.dup(fd))
            s.setblocking(False)
            socket.send_fds(s, [b"\x00" * 16], [0, 1])
            escaped |= bool(socket.recv_fds(s, 64, 8)[1])
    except OSError:
        pass
print(a + b if escaped else "contained")
