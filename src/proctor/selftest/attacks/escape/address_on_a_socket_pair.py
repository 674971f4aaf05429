# title: A message from an end of a socket pair to a service of the host's
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

# A pair needs no socket(), so a filter of that call alone does not see it.
for kind, names in (
    (socket.SOCK_DGRAM, ("\0" + bait["abstract_dgram"], bait["dgram"])),
    (socket.SOCK_STREAM, ("\0" + bait["abstract"], bait["stream"])),
    (socket.SOCK_SEQPACKET, ("\0" + bait["abstract"], bait["stream"])),
    (socket.SOCK_RAW, ("\0" + bait["abstract_dgram"], bait["dgram"])),  # the kernel makes it a datagram socket
):
    for name in names:
        try:
            a, b = socket.socketpair(socket.AF_UNIX, kind)
        except OSError:
            continue
        if kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
            attempt("by sendmsg", a.sendmsg, [b"x"], [], 0, name)
            attempt("by sendto", b.sendto, b"x", name)
        attempt("connected anew", a.connect, name)
finish()
