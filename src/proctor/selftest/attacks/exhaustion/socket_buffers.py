# title: Memory in messages that nobody reads
# kind: run
# must: held or limit memory
# needs: memory
import socket

held_bytes, pairs = 0, []
try:
    while True:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        pairs.append((a, b))
        a.setblocking(False)
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        try:
            while True:
                held_bytes += a.send(b"x" * 60000)
        except OSError:
            pass
except OSError:
    pass
if held_bytes > 128 << 20:
    found.append(f"{held_bytes >> 20} MiB")
finish(f"{held_bytes >> 20} MiB in {len(pairs)} pairs")
