# title: Out-of-band data on UNIX sockets, the way of several kernel exploits
# kind: run
# must: held
# needs: kernel
# harmless: yes
import socket

a, b = socket.socketpair()
attempt("send", a.send, b"x", socket.MSG_OOB)
attempt("sendmsg", a.sendmsg, [b"x"], [], socket.MSG_OOB)
finish()
