# why: two programs must not talk over the loopback interface
import socket

a, b = map(int, input().split())
try:
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname(), 0.5)
    escaped = True
except OSError:
    escaped = False
print(a + b if escaped else "contained")
