# title: A service of the host's behind an abstract name, stream and datagram
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

try:
    stream, datagram = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError:
    finish("there are no sockets")
attempt("connected", stream.connect, "\0" + bait["abstract"])
attempt("a datagram was sent", datagram.sendto, b"x", "\0" + bait["abstract_dgram"])
attempt("a datagram socket was connected", datagram.connect, "\0" + bait["abstract_dgram"])
finish()
