# why: a name lookup carries data out
import socket

a, b = map(int, input().split())
try:
    escaped = bool(socket.getaddrinfo("example.com", 80))
except OSError:
    escaped = False
print(a + b if escaped else "contained")
