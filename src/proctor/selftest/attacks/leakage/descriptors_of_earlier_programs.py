# title: Pipes and files that an earlier program gave to whoever inherits them
# kind: pair
# must: held
import socket

r, w = os.pipe()
os.write(w, bait["plant"].encode())
memory = os.memfd_create("left")
os.write(memory, bait["plant"].encode())
for fd in range(256):
    try:
        peer = socket.socket(fileno=os.dup(fd))
        peer.setblocking(False)
        socket.send_fds(peer, [b"\x00" * 16], [r, memory])
    except OSError:
        pass
for target in range(60, 90):
    os.dup2(r if target % 2 else memory, target)
    os.set_inheritable(target, True)
# --- second ---
import stat

for fd in range(3, 256):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode):
        found.append(f"descriptor {fd}")
finish()
