# title: Memory of the machine's in TCP connections that nobody reads
# kind: run
# must: held or limit memory or limit cpu
# needs: memory
# limits: loopback
import socket

try:
    listener = socket.socket()
except OSError:
    finish("there are no sockets")
listener.bind(("127.0.0.1", 0))
listener.listen(500)
size, ends = 0, []
try:
    for _ in range(100):
        ends.append(socket.create_connection(listener.getsockname()))
        ends.append(listener.accept()[0])
        for end in ends[-2:]:
            end.setblocking(False)
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                end.setsockopt(socket.SOL_SOCKET, option, 1 << 30)
            try:
                while True:
                    size += end.send(b"x" * 65536)
            except BlockingIOError:
                pass
except OSError:
    pass
if size > 256 << 20:
    found.append(f"{size >> 20} MiB")
finish(f"{size >> 20} MiB in {len(ends) // 2} connections")
