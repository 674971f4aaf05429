# title: The host's network interfaces and addresses
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

try:
    names = [name for _, name in socket.if_nameindex()]
    found += [f"interface {name}" for name in names if name != "lo"]
except OSError:
    pass
for name in ("tcp", "tcp6", "udp", "unix", "arp", "route"):
    text = read(f"/proc/net/{name}")
    if text.count(b"\n") > 1 and (name != "unix" or bait["abstract"].encode() in text):
        found.append(f"/proc/net/{name} was read")
finish()
