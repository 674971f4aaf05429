# title: The number of sockets that the machine has counted
# kind: run
# must: held
# needs: kernel
import socket

pair = socket.socketpair()
attempt("SO_COOKIE", pair[0].getsockopt, socket.SOL_SOCKET, 57, 8)
finish()
