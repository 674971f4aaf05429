# title: A service of the host's behind a path, stream and datagram
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

for prefix in ("", "/proc/self/root", "/proc/1/root", f"/proc/{bait['victim']}/root"):
    try:
        stream, datagram = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:
        finish("there are no sockets")
    attempt("connected", stream.connect, prefix + bait["stream"])
    attempt("a datagram was sent", datagram.sendto, b"x", prefix + bait["dgram"])
finish()
