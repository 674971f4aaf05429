# why: netlink, packet, vsock, crypto and Bluetooth sockets are kernel surface nobody needs
import socket

a, b = map(int, input().split())
escaped = False
for family in (16, 17, 31, 38, 40, 44):  # NETLINK PACKET BLUETOOTH ALG VSOCK XDP
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            escaped = True
        except OSError:
            pass
print(a + b if escaped else "contained")
