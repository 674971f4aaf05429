# title: Watching what others do with the host's files and with files that all programs share
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import time

IN_OPEN_ETC = 0xFFF
try:
    fd = call("inotify_init1", os.O_NONBLOCK)
except OSError:
    finish("inotify is refused")
watched = {}
shared = os.path.dirname(os.__file__)
for path in (os.path.dirname(bait["files"][0]), os.path.dirname(bait["directory"]), shared, "/usr/bin", "/tmp"):
    try:
        watched[call("inotify_add_watch", fd, path.encode(), IN_OPEN_ETC)] = path
    except OSError:
        pass
time.sleep(0.2)  # the host's process opens one of the shared files many times a second
try:
    event = os.read(fd, 4096)
    found.append(f"was told of events in {watched[int.from_bytes(event[:4], 'little')]}")
except OSError:
    pass
finish(f"{len(watched)} watches, no event")
