# title: A daemon of an earlier program behind an abstract, a path or a network address
# kind: pair
# must: held
import socket
import time

ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        kept = []
        for family, address in ((1, "\0proctor-left"), (1, "proctor-left"), (1, "/tmp/proctor-left"), (2, ("127.0.0.1", 38517)), (2, ("0.0.0.0", 38518))):
            try:
                s = socket.socket(family)
                s.bind(address)
                s.listen()
                kept.append(s)
            except OSError:
                pass
        os.write(tell, b"x")
        time.sleep(30)
    os._exit(0)
os.read(ready, 1)
# --- second ---
import socket

for family, address in ((1, "\0proctor-left"), (1, "proctor-left"), (1, "/tmp/proctor-left"), (2, ("127.0.0.1", 38517)), (2, ("127.0.0.1", 38518))):
    try:
        s = socket.socket(family)
        s.settimeout(0.2)
    except OSError:
        continue
    attempt(f"{address!r} answered", s.connect, address)
finish()
