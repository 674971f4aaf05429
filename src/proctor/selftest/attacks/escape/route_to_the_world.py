# title: A route to other machines
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

# Connecting a datagram socket sends nothing; it succeeds if there is a way there.
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    try:
        s = socket.socket(family, socket.SOCK_DGRAM)
    except OSError:
        continue
    attempt(f"there is a route to {address}", s.connect, (address, 53))
finish()
