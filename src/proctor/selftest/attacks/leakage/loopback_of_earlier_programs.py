# title: An earlier program's ports, closed connections and shared memory
# kind: pair
# must: held
# limits: loopback
import socket

try:
    with open("/dev/shm/left-behind", "w") as file:
        file.write(bait["plant"])
    os.mkdir("/dev/shm/../beside")
except OSError:
    pass
try:
    listener, datagrams = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("", 8377))
    datagrams.bind(("", 8377))
    listener.listen()
    a, b = socket.create_connection(("127.0.0.1", 8377)), listener.accept()[0]
    b.close()  # who closes first keeps the port for a minute
    a.close()
except OSError:
    pass
if os.fork() == 0:
    os.setsid()
    signal = __import__("signal")
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        signal.pause()
# --- second ---
import socket

for place in ("/dev/shm", "/dev/shm/.."):
    try:
        found += [f"{place}/{name}" for name in os.listdir(place) if name != "shm"]
    except OSError:
        pass
try:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET, kind)
        if kind == socket.SOCK_STREAM:
            attempt("the port answered", s.connect, ("127.0.0.1", 8377))
            s = socket.socket(socket.AF_INET, kind)
        try:
            s.bind(("", 8377))
        except OSError:
            found.append("the port was in use")
except OSError:
    pass
finish()
