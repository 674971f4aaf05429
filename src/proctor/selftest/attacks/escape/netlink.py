# title: Netlink: routes, firewalls, audit, connections, in the kernel's own words
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

made = []
for family in (0, 4, 7, 9, 11, 12, 15, 16):
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            socket.socket(16, kind, family).close()
            made.append(str(family))
        except OSError:
            pass
if made:
    found.append(f"netlink sockets of families {', '.join(dict.fromkeys(made))}")
finish()
