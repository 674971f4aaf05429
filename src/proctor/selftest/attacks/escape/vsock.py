# title: The virtual machine's own line to its host
# kind: run
# must: held
# needs: network
# harmless: yes
import socket

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try:
        s = socket.socket(40, kind)
    except OSError:
        continue
    found.append("a vsock socket was made")
finish()
