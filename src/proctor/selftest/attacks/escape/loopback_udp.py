# title: Datagrams to the host, by sendto and TCP fast open
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

try:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    attempt("a datagram was sent", s.sendto, b"x", ("127.0.0.1", bait["udp"]))
except OSError:
    pass
try:
    s = socket.socket(socket.AF_INET)
    s.settimeout(0.3)
    attempt("TCP fast open", s.sendto, b"x", socket.MSG_FASTOPEN, ("127.0.0.1", bait["tcp4"]))
except OSError:
    pass
finish()
