# title: Lines to the kernel and to the virtual machine's host: netlink, vsock
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

made = []
for name, family, protocols in (("netlink", 16, (0, 4, 7, 9, 11, 12, 15, 16)), ("vsock", 40, (0,))):
    for protocol in protocols:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind, protocol).close()
                made.append(f"{name} {protocol}")
            except OSError:
                pass
if made:
    found.append(f"sockets of {', '.join(dict.fromkeys(made))}")
finish()
