# title: Descriptors sent to itself and never received, which no limit of open files counts
# kind: run
# must: held or limit memory or limit cpu
# limits: cpu=1 wall=8
# needs: memory
import socket

sent, pairs = 0, []
try:
    while sent < 1 << 17 and len(pairs) < 4000:
        a, b = socket.socketpair()
        a.setblocking(False)
        try:
            while True:
                socket.send_fds(a, [b"x"], [b.fileno()] * 250)
                sent += 250
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EMSGSIZE, errno.ENOBUFS):
                raise
        pairs.append(a)
        b.close()
except OSError:
    pass
if sent > 1 << 16:
    found.append(f"{sent} descriptors in flight")
finish(f"{sent} were sent, then no more")
