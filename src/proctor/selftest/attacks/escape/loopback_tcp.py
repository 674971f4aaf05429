# title: Services of the host's on the loopback interface: connections, datagrams, TCP fast open
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

for family, address, port in ((socket.AF_INET, "127.0.0.1", bait["tcp4"]), (socket.AF_INET6, "::1", bait["tcp6"])):
    if port is None:
        continue
    try:
        s = socket.socket(family)
    except OSError:
        continue
    s.settimeout(0.3)
    attempt(f"connected to {address}", s.connect, (address, port))
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
