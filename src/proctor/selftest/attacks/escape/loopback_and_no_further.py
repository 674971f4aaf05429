# title: From a loopback interface of its own to the host, to the world, and to what takes rights
# kind: run
# must: held
# limits: loopback
# needs: network
import fcntl
import socket
import struct

try:
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
except OSError:
    finish("there are no sockets")
for family, address, port in ((socket.AF_INET, "127.0.0.1", bait["tcp4"]), (socket.AF_INET6, "::1", bait["tcp6"])):
    if port is not None:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            s = socket.socket(family, kind)
            s.settimeout(0.3)
            if kind == socket.SOCK_STREAM:
                attempt(f"connected to the host's {address}", s.connect, (address, port))
            else:
                s.connect((address, port))
                s.send(b"x")
                attempt(f"an answer of the host's {address}", s.recv, 10)
for address in ("8.8.8.8", "169.254.169.254", "10.0.0.1", "172.17.0.1", "192.168.0.1", "255.255.255.255"):
    attempt(f"a datagram to {address}", udp.sendto, b"x", (address, 53))
    tcp.settimeout(0.3)
    attempt(f"connected to {address}", tcp.connect, (address, 53))
abstract = socket.socket(socket.AF_UNIX)
attempt("an abstract name of the host's", abstract.connect, "\0" + bait["abstract"])
for name, arguments in {
    "raw": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP), "raw IPv6": (socket.AF_INET6, socket.SOCK_RAW, 58),
    "ping": (socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP), "SCTP": (socket.AF_INET, socket.SOCK_STREAM, 132),
    "MPTCP": (socket.AF_INET, socket.SOCK_STREAM, 262), "UDP-Lite": (socket.AF_INET, socket.SOCK_DGRAM, 136),
    "packets": (17, socket.SOCK_RAW, 0x300), "netlink": (16, socket.SOCK_RAW, 0), "vsock": (40, socket.SOCK_STREAM, 0),
    "ciphers": (38, 5, 0), "Bluetooth": (31, 3, 0), "seqpacket": (socket.AF_INET, socket.SOCK_SEQPACKET, 0),
}.items():
    attempt(f"a socket for {name}", socket.socket, *arguments)
lo = struct.pack("16sH22x", b"lo", 0)
for request, what in ((0x8914, "flags"), (0x8916, "address"), (0x8922, "MTU"), (0x890B, "route"), (0x8927, "hardware address")):
    if request != 0x8927:
        attempt(f"the interface's {what} was set", fcntl.ioctl, udp, request, lo)
new = socket.socket()
for level, option, value, what in (
    (socket.IPPROTO_TCP, 31, b"tls", "a cipher"), (socket.SOL_SOCKET, 36, struct.pack("i", 1), "a mark"),
    (socket.SOL_SOCKET, 33, struct.pack("i", 1 << 24), "a forced buffer"), (socket.SOL_SOCKET, 1, struct.pack("i", 1), "debugging"),
    (0, 64, b"\0" * 84, "a table of packets"), (0, 19, struct.pack("i", 1), "foreign addresses"),
):  # fmt: skip
    attempt(f"{what} was set", new.setsockopt, level, option, value)
for option, what in ((57, "the socket's number"), (71, "the network's number")):
    attempt(f"{what} was told", new.getsockopt, socket.SOL_SOCKET, option, 8)
attempt("a new network", call, "unshare", 0x40000000)
finish()
