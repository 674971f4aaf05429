# title: Watching what others do by F_NOTIFY, which is older than inotify
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import fcntl
import signal
import time

events = []
signal.signal(signal.SIGIO, lambda *_: events.append(1))
watched = 0
for path in (os.path.dirname(os.__file__), bait["directory"], "/usr/bin", "/tmp"):
    try:
        fd = os.open(path, os.O_RDONLY)
        fcntl.fcntl(fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MODIFY | fcntl.DN_CREATE | fcntl.DN_MULTISHOT)
        watched += 1
    except OSError:
        pass
time.sleep(0.2)
if events:
    found.append("was told of others' use of files")
finish(f"{watched} watches, no event")
