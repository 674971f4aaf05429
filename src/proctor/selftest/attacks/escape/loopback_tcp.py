# title: A service of the host's on the loopback interface
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
finish()
